// dlcheck-train: trains a model on a fixture. Exit status 0; 2 for bad usage or input, 1 for a run
// that failed, 5 (kLostStatus) for one of many ranks that is well, but lost another; each with one
// line on standard error.
#include <sys/wait.h>
#include <torch/torch.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string>

#include "checks/records/request.h"
#include "checks/records/visible.h"
#include "dlcheck/probe.h"
#include "reference/baseline/baseline.h"
#include "reference/distributed/health/c10d_warnings.h"
#include "reference/distributed/health/heartbeat.h"
#include "reference/distributed/health/ranks_lost.h"
#include "reference/distributed/launch/joining.h"
#include "reference/distributed/launch/local_ranks.h"
#include "reference/distributed/launch/placement.h"
#include "reference/distributed/process_group/exchange_errors.h"
#include "reference/faults/faults.h"
#include "reference/models/scripted_model.h"
#include "reference/probe_observer.h"
#include "reference/recipe/command_line.h"
#include "reference/recipe/page.h"
#include "reference/recipe/rejection.h"
#include "reference/search/gradient_statistics.h"
#include "reference/search/lr_range.h"
#include "reference/training/experiments.h"
#include "reference/training/memory_limit.h"
#include "reference/training/preflight.h"
#include "reference/training/run.h"
#include "reference/training/stop_signal.h"

namespace dlcheck::reference {
namespace {

int Fail(const std::string& message, int status) {
  const std::optional<std::string> rank = RankIn(ProcessEnvironment);
  std::fprintf(stderr, "dlcheck-train: %s%s\n", rank ? ("rank " + *rank + ": ").c_str() : "",
               Visible(message.substr(0, message.find('\n'))).c_str());
  return status;
}

// What is wrong with this rank alone; the others are told.
int FailAlone(const Ranks& ranks, const std::string& message, int status) {
  if (ranks.heartbeat() != nullptr) ranks.heartbeat()->Fail(message, /*is_cut_off=*/false);
  return Fail(message, status);
}

// The run failed, because of this rank or of another.
int FailRun(const Ranks& ranks, const std::exception& error, const std::string& message) {
  if (ranks.heartbeat() == nullptr || !IsOfExchange(error)) return FailAlone(ranks, message, 1);
  // Whoever started the ranks ends all when it has lost one, and this one has yet to say which.
  std::signal(SIGTERM, SIG_IGN);
  return Fail(ranks.heartbeat()->Fail(message, /*is_cut_off=*/true).value().line, kLostStatus);
}

void ListFaults() {
  for (const Fault& fault : Faults()) {
    std::printf("%s\t%s\t%s\t%s\n", fault.name.c_str(), fault.check.c_str(), fault.options.c_str(),
                fault.story.c_str());
  }
}

// The first part of a resumed run, in a process of its own that nobody watches, up to a checkpoint.
// Forked before LibTorch has done any work, whose threads would not come along.
void RunFirstPart(Plan plan, int64_t steps) {
  const pid_t child = fork();
  if (child == 0) {
    plan.stop_at_step = steps;
    int status = 1;
    try {
      RunPlan(plan, Observer());
      status = 0;
    } catch (const std::exception& error) {
      Fail(error.what(), 1);
    }
    std::fflush(nullptr);
    _exit(status);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) < 0 || status != 0) {
    throw std::runtime_error("the run up to the interruption failed");
  }
}

// A library that calls exit() in the midst of training would look like the end of it.
bool main_returned = false;

void RefuseToExit() {
  if (main_returned) return;
  std::fprintf(stderr, "dlcheck-train: the model ended the process\n");
  std::fflush(nullptr);
  _exit(1);
}

// Before a user's model runs in this process.
void PrepareForModel(const Recipe& recipe, const InputShape& sample_shape, int64_t classes) {
  PreflightInChild(recipe, sample_shape, classes);
  std::atexit(RefuseToExit);
  if (IsTorchScript(recipe.model)) {
    std::fprintf(
        stderr,
        "dlcheck-train: warning: '%s' is TorchScript, a legacy format: where it was traced "
        "and not scripted, it ignores train() and eval()\n",
        recipe.model.c_str());
  }
  // Accelerators reserve addresses that count, though they are no memory.
  if (recipe.device == "cpu") LimitMemory(recipe.memory_limit_mib);
}

// Those that whoever started this process says in the environment, or this one alone.
Ranks RanksFor(const Recipe& recipe) {
  const std::optional<Placement> placement = PlacementFrom(ProcessEnvironment);
  const int64_t world = placement ? placement->world : 1;
  if (recipe.nproc > 1 && recipe.nproc != world) {
    throw UsageError("nproc is " + std::to_string(recipe.nproc) + ", but " + std::to_string(world) +
                     " were started");
  }
  if (world == 1) return Ranks();
  SilenceC10dWarnings();
  using std::chrono::seconds;
  return JoinRanks(*placement,
                   {seconds(recipe.rendezvous_timeout), seconds(recipe.heartbeat_timeout),
                    seconds(recipe.collective_timeout)});
}

// Once training is over for this rank.
void Leave(Ranks& ranks) {
  if (ranks.heartbeat() != nullptr) {
    if (const std::optional<Verdict> verdict = ranks.heartbeat()->Leave()) {
      throw RanksLost(verdict->line);
    }
  }
  ranks = Ranks();
}

// The command line, or why it is refused, which whoever watches the run is told.
struct Asked {
  CommandLine line;
  std::exception_ptr refused;
};

Asked ReadAsked(int count, const char* const* arguments) {
  try {
    Asked asked{ReadCommandLine(count, arguments), nullptr};
    asked.line.recipe.nproc = std::max(asked.line.recipe.nproc, RanksOf(asked.line.recipe.fault));
    return asked;
  } catch (...) {
    return {CommandLine(), std::current_exception()};
  }
}

// Whether this process is to start the ranks, and is none itself.
bool StartsRanks(const Asked& asked) {
  const CommandLine& line = asked.line;
  const bool only_prints = line.exit_status || line.list_faults || line.print_recipe_page;
  return !asked.refused && !only_prints && line.recipe.nproc > 1 && !IsPlaced(ProcessEnvironment);
}

// 1 is a verdict here, so that a failure has another number.
int Baseline(const CommandLine& line) {
  try {
    return RunBaseline(line.baseline, line.baseline_steps, line.baseline_json);
  } catch (const c10::Error& error) {
    return Fail(std::string("no baseline could be trained: ") + error.what_without_backtrace(), 3);
  }
}

// The exit status; or, negative, the signal that ended the run.
int Run(const CommandLine& line, const std::optional<Request>& request, const Observer& observer,
        Ranks& ranks) {
  if (line.exit_status) return *line.exit_status;
  if (line.list_faults) {
    ListFaults();
    return 0;
  }
  if (line.print_recipe_page) {
    std::fputs(RecipePage().c_str(), stdout);
    return 0;
  }
  if (!line.baseline.empty()) return Baseline(line);
  if (line.lr_range) return RunLrRange(line.recipe);
  if (line.gradient_statistics) return RunGradientStatistics(line.recipe);
  Plan plan;
  plan.recipe = line.recipe;
  plan.preflight = PrepareForModel;
  if (!line.recipe.fault.empty()) PlantFault(line.recipe.fault, plan);
  if (request) ApplyRequest(*request, plan);
  if (request && request->experiment == "resumed") {
    RunFirstPart(plan, request->at_step.value_or(1));
    plan.recipe.resume = true;
  }
  ranks = RanksFor(plan.recipe);
  const Outcome outcome = RunPlan(plan, observer, ranks);
  return outcome.ended == Ended::kSignal ? -StopSignal::Came() : 0;
}

int WatchedRun(const Asked& asked) {
  const std::optional<Request> request = RequestFromEnvironment();
  // Until this process ends it stays in the group, should it fail: the others fail when it leaves,
  // and who looks after the ranks is to see this one end before.
  static auto& ranks = *new Ranks();
  // What interrupts itself does so in one process.
  const bool resumes = !IsPlaced(ProcessEnvironment);
  Probe probe(
      {.capabilities = std::string("plain same_seed one_batch reference mean_inputs trials") +
                       (resumes ? " resumed" : "")});
  const Observer observer = ObserverFor(probe);
  try {
    if (asked.refused) std::rethrow_exception(asked.refused);
    const int status = Run(asked.line, request, observer, ranks);
    Leave(ranks);
    return status;
  } catch (const InputRejected& rejection) {
    Tell(observer.rejected, rejection.file, rejection.cause);
    return FailAlone(ranks, rejection.what(), 2);
  } catch (const UsageError& error) {
    Tell(observer.rejected, "dlcheck-train", error.what());
    return FailAlone(ranks, error.what(), 2);
  } catch (const RanksLost& loss) {
    return Fail(loss.what(), kLostStatus);
  } catch (const c10::Error& error) {
    return FailRun(ranks, error, error.what_without_backtrace());
  } catch (const std::exception& error) {
    return FailRun(ranks, error, error.what());
  }
}

int Main(int count, char** arguments) {
  if (const std::optional<int> preflight = Preflight(count, arguments)) return *preflight;
  const Asked asked = ReadAsked(count, arguments);
  if (StartsRanks(asked)) {
    try {
      // Who is lost the ranks find out first.
      const std::chrono::seconds longest_stop(asked.line.recipe.heartbeat_timeout + 5);
      return RunLocalRanks(asked.line.recipe.nproc, longest_stop, arguments);
    } catch (const std::exception& error) {
      return Fail(error.what(), 1);
    }
  }
  const int status = WatchedRun(asked);
  main_returned = true;
  if (status > 0 && IsPlaced(ProcessEnvironment)) {
    std::fflush(nullptr);
    _exit(status);  // as threads of the group are still there
  }
  // What came is what ends the process, so that whoever started it sees why; the records are
  // closed.
  if (status < 0) std::raise(-status);
  return status;
}

}  // namespace
}  // namespace dlcheck::reference

int main(int count, char** arguments) { return dlcheck::reference::Main(count, arguments); }
