#include "checks/observe/preload/process_request.h"

namespace dlcheck {

std::optional<Request>& RequestOfProcess() {
  static auto* request = new std::optional<Request>(RequestFromEnvironment());
  return *request;
}

bool IsExperiment(std::string_view word) {
  static const auto* const asked =
      new std::string(RequestOfProcess() ? RequestOfProcess()->experiment : "");
  return *asked == word;
}

}  // namespace dlcheck
