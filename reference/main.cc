// dlcheck-train: trains a model on a fixture. Exit status 0; 2 for bad usage or input, 1 for a run
// that failed, each with one line on standard error.
#include <torch/torch.h>

#include <csignal>
#include <cstdio>
#include <optional>
#include <string>

#include "checks/records/request.h"
#include "dlcheck/probe.h"
#include "reference/faults/faults.h"
#include "reference/recipe/command_line.h"
#include "reference/recipe/page.h"
#include "reference/recipe/rejection.h"
#include "reference/training/experiments.h"
#include "reference/training/observer.h"
#include "reference/training/run.h"
#include "reference/training/stop_signal.h"

namespace dlcheck::reference {
namespace {

int Fail(const std::string& message, int status) {
  std::fprintf(stderr, "dlcheck-train: %s\n", message.substr(0, message.find('\n')).c_str());
  return status;
}

void ListFaults() {
  for (const Fault& fault : Faults()) {
    std::printf("%s\t%s\t%s\t%s\n", fault.name.c_str(), fault.check.c_str(), fault.options.c_str(),
                fault.story.c_str());
  }
}

int Run(const CommandLine& line, const std::optional<Request>& request, const Observer& observer) {
  if (line.exit_status) return *line.exit_status;
  if (line.list_faults) {
    ListFaults();
    return 0;
  }
  if (line.print_recipe_page) {
    std::fputs(RecipePage().c_str(), stdout);
    return 0;
  }
  Plan plan;
  plan.recipe = line.recipe;
  if (!line.recipe.fault.empty()) PlantFault(line.recipe.fault, plan);
  if (request) ApplyRequest(*request, plan);
  const Outcome outcome = RunPlan(plan, observer);
  // What came is what ends the process, so that whoever started it sees why.
  if (outcome.ended == Ended::kSignal) std::raise(StopSignal::Came());
  return 0;
}

// The parameters of an optimizer as the probe wants them; the rate is asked for at each step.
std::vector<Probe::Group> GroupsOf(Optimizer& optimizer) {
  std::vector<Probe::Group> groups;
  for (size_t i = 0; i < optimizer.groups().size(); ++i) {
    Probe::Group group;
    for (const Optimizer::Parameter& parameter : optimizer.groups()[i].parameters) {
      group.parameters.emplace_back(parameter.name, parameter.tensor);
    }
    group.rate = [&optimizer, i] { return optimizer.groups()[i].lr; };
    groups.push_back(std::move(group));
  }
  return groups;
}

// The one place where trainer and probe meet.
Observer ObserverFor(Probe& probe) {
  using torch::Tensor;
  Observer observer;
  if (!probe.active()) return observer;
  // The lines of this file are not where a user would look.
  constexpr Probe::Site kNowhere{"", 0, ""};
  observer.seeded = [&](int64_t seed) { probe.Seeded(seed, kNowhere); };
  observer.model = [&](torch::nn::Module& model) { probe.Watch(model); };
  observer.optimizer = [&](Optimizer& optimizer) {
    probe.Optimizes("reference optimizer", GroupsOf(optimizer));
  };
  observer.batch = [&](const Tensor& x, const Tensor&) { probe.Batch(x, kNowhere); };
  observer.mode = [&](bool training) { probe.Training(training, kNowhere); };
  observer.cleared = [&] { probe.Cleared(0, kNowhere); };
  observer.loss = [&](const Tensor& loss, const Tensor& logits, const Tensor& targets) {
    probe.Loss(loss, logits, targets, kNowhere);
  };
  observer.before_step = [&] { probe.BeforeStep(); };
  observer.after_step = [&](bool) { probe.AfterStep(0, kNowhere); };
  observer.evaluation_outputs = [&](const Tensor& logits, const Tensor& targets) {
    probe.EvaluationOutputs(logits, targets);
  };
  observer.evaluated = [&](double loss, int64_t samples) { probe.Evaluated(loss, samples); };
  observer.saved = [&](const std::string& file, const NamedTensors&) { probe.Saved(file); };
  observer.loaded = [&](const std::string& file, const NamedTensors&) { probe.Loaded(file); };
  observer.rejected = [&](const std::string& file, const std::string& cause) {
    probe.Rejected(file, cause);
  };
  return observer;
}

int Main(int count, const char* const* arguments) {
  const std::optional<Request> request = RequestFromEnvironment();
  Probe probe({.capabilities = "plain same_seed one_batch reference blind"});
  const Observer observer = ObserverFor(probe);
  try {
    return Run(ReadCommandLine(count, arguments), request, observer);
  } catch (const InputRejected& rejection) {
    Tell(observer.rejected, rejection.file, rejection.cause);
    return Fail(rejection.what(), 2);
  } catch (const UsageError& error) {
    Tell(observer.rejected, "dlcheck-train", error.what());
    return Fail(error.what(), 2);
  } catch (const c10::Error& error) {
    return Fail(error.what_without_backtrace(), 1);
  } catch (const std::exception& error) {
    return Fail(error.what(), 1);
  }
}

}  // namespace
}  // namespace dlcheck::reference

int main(int count, char** arguments) { return dlcheck::reference::Main(count, arguments); }
