#include "reference/distributed/launch/local_ranks.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "reference/distributed/health/memory_kills.h"
#include "reference/distributed/health/ranks_lost.h"

namespace dlcheck::reference {
namespace {

using Clock = std::chrono::steady_clock;

// A socket that listens on the loopback, so that no other program can take the port before the
// first rank serves there.
struct Listening {
  int file;
  uint16_t port;
};

Listening Listen() {
  // Not where a standard stream belongs, should one be closed.
  const int any_file = socket(AF_INET, SOCK_STREAM, 0);
  const int file = fcntl(any_file, F_DUPFD, 3);
  close(any_file);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  constexpr int kQueue = 2048;
  if (file < 0 || bind(file, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      listen(file, kQueue) != 0 ||
      getsockname(file, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    throw std::runtime_error(std::string("the ranks cannot meet on the loopback: ") +
                             std::strerror(errno));
  }
  return {file, ntohs(address.sin_port)};
}

struct Rank {
  pid_t process;
  bool has_ended = false;
  int status = 0;                                    // as waitpid gives it
  std::optional<Clock::time_point> stopped_at = {};  // by a signal, until it goes on
};

// What a rank may still write once it is to end.
constexpr std::chrono::seconds kLongestEnd{5};
// In which the others find out and say what they have lost, and that may show what became of it.
constexpr std::chrono::seconds kToShow{3};
// Short, so that who failed first is told from who failed for that.
constexpr std::chrono::milliseconds kBetweenPolls{2};

void SetNumber(const char* name, int64_t number) {
  setenv(name, std::to_string(number).c_str(), /*overwrite=*/1);
}

[[noreturn]] void BecomeRank(int64_t rank, int64_t world, const Listening& listening,
                             char* const* arguments) {
  setpgid(0, 0);  // what is typed at a terminal goes to the one that looks after the ranks
  SetNumber("RANK", rank);
  SetNumber("WORLD_SIZE", world);
  SetNumber("LOCAL_RANK", rank);
  SetNumber("LOCAL_WORLD_SIZE", world);
  setenv("MASTER_ADDR", "127.0.0.1", /*overwrite=*/1);
  SetNumber("MASTER_PORT", listening.port);
  if (rank == 0) {
    SetNumber("DLCHECK_LISTENING", listening.file);
  } else {
    close(listening.file);
  }
  // By its own name, under which a list of processes shows it.
  std::array<char, PATH_MAX> program{};
  (void)!readlink("/proc/self/exe", program.data(), program.size() - 1);
  execv(program.data(), arguments);
  std::fprintf(stderr, "dlcheck-train: rank %lld cannot be started: %s\n",
               static_cast<long long>(rank), std::strerror(errno));
  _exit(1);
}

// What a signal handler may reach.
std::array<volatile pid_t, 1024> processes{};
volatile size_t process_count = 0;

volatile sig_atomic_t asked_to_end = 0;  // by which signal

void PassOn(int signal) {
  for (size_t i = 0; i < process_count; ++i) {
    if (processes[i] > 0) kill(processes[i], signal);
  }
}

void EndAll(int signal) {
  asked_to_end = signal;
  PassOn(signal);
}

std::vector<Rank> Start(int64_t world, char* const* arguments) {
  const Listening listening = Listen();
  const pid_t own = getpid();
  std::vector<Rank> ranks;
  for (int64_t rank = 0; rank < world; ++rank) {
    const pid_t process = fork();
    if (process == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (getppid() != own) _exit(1);  // it has died before that
      BecomeRank(rank, world, listening, arguments);
    }
    if (process < 0) {
      PassOn(SIGKILL);
      throw std::runtime_error(std::string("a rank cannot be started: ") + std::strerror(errno));
    }
    processes[static_cast<size_t>(rank)] = process;
    process_count = static_cast<size_t>(rank) + 1;
    ranks.push_back({process});
  }
  close(listening.file);
  return ranks;
}

bool HasFailed(const Rank& rank) { return rank.has_ended && rank.status != 0; }

// Notes what became of a rank.
void Look(Rank& rank) {
  int status = 0;
  while (waitpid(rank.process, &status, WNOHANG | WUNTRACED | WCONTINUED) == rank.process) {
    if (WIFSTOPPED(status)) {
      rank.stopped_at = Clock::now();
    } else if (WIFCONTINUED(status)) {
      rank.stopped_at.reset();
    } else {
      rank.has_ended = true;
      rank.status = status;
      return;
    }
  }
}

// Notes every rank that has ended by now; whether all have.
bool Collect(std::vector<Rank>& ranks) {
  bool all = true;
  for (size_t i = 0; i < ranks.size(); ++i) {
    if (!ranks[i].has_ended) Look(ranks[i]);
    if (ranks[i].has_ended) processes[i] = 0;
    all = all && ranks[i].has_ended;
  }
  return all;
}

bool CollectUntil(std::vector<Rank>& ranks, Clock::time_point end) {
  while (!Collect(ranks)) {
    if (Clock::now() >= end) return false;
    std::this_thread::sleep_for(kBetweenPolls);
  }
  return true;
}

// Of one that is stopped for long nobody else may know: it may need the others no more.
bool IsStuck(const Rank& rank, std::chrono::seconds longest_stop) {
  return !rank.has_ended && rank.stopped_at && Clock::now() - *rank.stopped_at >= longest_stop;
}

// Well itself, but it has lost another.
bool HasLostAnother(const Rank& rank) {
  return rank.has_ended && WIFEXITED(rank.status) && WEXITSTATUS(rank.status) == kLostStatus;
}

// The one that failed first: of those that were found to have failed at one moment, one that a
// signal ended, as the others then fail because it is gone. None if none has failed.
std::optional<size_t> Cause(const std::vector<Rank>& ranks, std::chrono::seconds longest_stop) {
  std::optional<size_t> cause;
  for (size_t i = 0; i < ranks.size(); ++i) {
    if (IsStuck(ranks[i], longest_stop)) return i;
    if (!HasFailed(ranks[i]) || HasLostAnother(ranks[i])) continue;
    if (WIFSIGNALED(ranks[i].status)) return i;
    if (!cause) cause = i;
  }
  return cause;
}

// The one that others say they have lost: it is stopped, or left them. If it is neither, the first
// of those that say so.
size_t Lost(const std::vector<Rank>& ranks) {
  const auto first = [&](const std::function<bool(const Rank&)>& is) {
    return static_cast<size_t>(std::find_if(ranks.begin(), ranks.end(), is) - ranks.begin());
  };
  const size_t lost = first([](const Rank& rank) {
    return rank.has_ended ? rank.status == 0 : rank.stopped_at.has_value();
  });
  return lost < ranks.size() ? lost : first(HasLostAnother);
}

std::optional<size_t> Found(std::vector<Rank>& ranks, std::chrono::seconds longest_stop) {
  std::optional<size_t> cause = Cause(ranks, longest_stop);
  if (cause || std::none_of(ranks.begin(), ranks.end(), HasLostAnother)) return cause;
  CollectUntil(ranks, Clock::now() + kToShow);
  cause = Cause(ranks, longest_stop);
  return cause ? cause : Lost(ranks);
}

std::string Ending(const Rank& rank, bool ran_out_of_memory) {
  const int status = rank.status;
  if (!rank.has_ended) return "was stopped by a signal";
  if (status == 0) return "left before the others, exit status 0";
  if (HasLostAnother(rank)) return "lost another, exit status " + std::to_string(kLostStatus);
  if (!WIFSIGNALED(status)) return "failed, exit status " + std::to_string(WEXITSTATUS(status));
  return std::string("was ended by ") + strsignal(WTERMSIG(status)) +
         (ran_out_of_memory && WTERMSIG(status) == SIGKILL ? ", as memory ran out" : "");
}

// Ends those that are left: what has to be done first may take a while, then there is no more time.
void EndOthers(std::vector<Rank>& ranks, size_t cause) {
  if (!ranks[cause].has_ended) kill(ranks[cause].process, SIGKILL);
  // Time to say what they have to say.
  if (CollectUntil(ranks, Clock::now() + kToShow)) return;
  if (asked_to_end == 0) PassOn(SIGTERM);
  if (CollectUntil(ranks, Clock::now() + kLongestEnd)) return;
  PassOn(SIGKILL);
  CollectUntil(ranks, Clock::now() + kLongestEnd);
}

}  // namespace

int RunLocalRanks(int64_t world, std::chrono::seconds longest_stop, char* const* arguments) {
  std::signal(SIGCHLD, SIG_DFL);  // were it ignored, nobody would learn how a rank ended
  const int64_t memory_kills = MemoryKills();
  std::vector<Rank> ranks = Start(world, arguments);
  for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, EndAll);
  std::optional<size_t> cause;
  while (!cause) {
    const bool have_ended = Collect(ranks);
    cause = Found(ranks, longest_stop);
    if (have_ended && !cause) return 0;
    if (!cause) std::this_thread::sleep_for(kBetweenPolls);
  }
  const Rank found = ranks[*cause];  // before it is ended, should it be stopped
  EndOthers(ranks, *cause);
  if (found.has_ended && WIFSIGNALED(found.status) && WTERMSIG(found.status) == asked_to_end) {
    std::signal(asked_to_end, SIG_DFL);
    std::raise(asked_to_end);  // so that whoever asked sees that it was done
  }
  std::fprintf(stderr, "dlcheck-train: rank %zu of %zu %s; the others were ended\n", *cause,
               ranks.size(), Ending(found, MemoryKills() > memory_kills).c_str());
  const bool has_failed = found.has_ended && WIFEXITED(found.status) && found.status != 0;
  return has_failed ? WEXITSTATUS(found.status) : kLostStatus;
}

}  // namespace dlcheck::reference
