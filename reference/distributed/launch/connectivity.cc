#include "reference/distributed/launch/connectivity.h"

#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <thread>

#include "reference/distributed/health/ranks_lost.h"

namespace dlcheck::reference {
namespace {

using Clock = std::chrono::steady_clock;

// Why there is no connection to one address, as errno has it; 0 if there is. One of datagrams only
// needs a way there.
int Knock(const addrinfo& at) {
  constexpr int kAnswerMilliseconds = 2000;
  const int file = socket(at.ai_family, at.ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (file < 0) return errno;
  int error = connect(file, at.ai_addr, at.ai_addrlen) == 0 ? 0 : errno;
  pollfd waited{file, POLLOUT, 0};
  if (error == EINPROGRESS) {
    socklen_t size = sizeof(error);
    error = ETIMEDOUT;
    if (poll(&waited, 1, kAnswerMilliseconds) == 1) {
      getsockopt(file, SOL_SOCKET, SO_ERROR, &error, &size);
    }
  }
  close(file);
  return error;
}

// Why nobody answers; empty if somebody does.
std::string Trouble(const std::string& address, uint16_t port, int socket_type) {
  addrinfo hints{};
  hints.ai_socktype = socket_type;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(address.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (error != 0) return std::string("the name leads to no machine: ") + gai_strerror(error);
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owned(found, &freeaddrinfo);
  int why = 0;
  for (const addrinfo* at = found; at != nullptr; at = at->ai_next) {
    why = Knock(*at);
    if (why == 0) return "";
  }
  return std::strerror(why);
}

}  // namespace

void RequireRoute(const std::string& address, uint16_t port) {
  const std::string trouble = Trouble(address, port, SOCK_DGRAM);
  if (trouble.empty()) return;
  throw RanksLost("the ranks cannot meet at " + address + ":" + std::to_string(port) + ": " +
                  trouble);
}

void AwaitListener(const std::string& address, uint16_t port, std::chrono::milliseconds limit) {
  constexpr std::chrono::milliseconds kBetweenTries{100};
  const Clock::time_point end = Clock::now() + limit;
  while (true) {
    const std::string trouble = Trouble(address, port, SOCK_STREAM);
    if (trouble.empty()) return;
    if (Clock::now() >= end) {
      throw RanksLost("rank 0 is not found at " + address + ":" + std::to_string(port) +
                      " within rendezvous-timeout: " + trouble);
    }
    std::this_thread::sleep_for(kBetweenTries);
  }
}

}  // namespace dlcheck::reference
