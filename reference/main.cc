// dlcheck-train: trains a model on a fixture. Exit status 0; 2 for bad usage or input, 1 for a run
// that failed, each with one line on standard error.
#include <torch/torch.h>

#include <cstdio>
#include <optional>
#include <string>

#include "checks/records/request.h"
#include "reference/command_line.h"
#include "reference/experiments.h"
#include "reference/faults.h"
#include "reference/observer.h"
#include "reference/rejection.h"
#include "reference/run.h"

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
  Plan plan;
  plan.recipe = line.recipe;
  if (!line.recipe.fault.empty()) PlantFault(line.recipe.fault, plan);
  if (request) ApplyRequest(*request, plan);
  RunPlan(plan, observer);
  return 0;
}

int Main(int count, const char* const* arguments) {
  const std::optional<Request> request = RequestFromEnvironment();
  const Observer observer;
  try {
    return Run(ReadCommandLine(count, arguments), request, observer);
  } catch (const InputRejected& rejection) {
    Tell(observer.rejected, rejection.file, rejection.cause);
    return Fail(rejection.what(), 2);
  } catch (const UsageError& error) {
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
