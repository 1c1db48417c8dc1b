#include "reference/distributed/health/c10d_warnings.h"

#include <c10/util/Exception.h>
#include <c10/util/Logging.h>

#include <cstdio>
#include <cstdlib>

namespace dlcheck::reference {
namespace {

class OneLine : public c10::WarningHandler {
 public:
  void process(const c10::Warning& warning) override {
    std::fprintf(stderr, "dlcheck-train: warning: %s\n", warning.msg().c_str());
  }
};

}  // namespace

void SilenceC10dWarnings() {
  constexpr char kLevel[] = "TORCH_CPP_LOG_LEVEL";
  if (std::getenv(kLevel) != nullptr) return;
  setenv(kLevel, "ERROR", /*overwrite=*/1);
  c10::initLogging();
  static OneLine one_line;
  c10::WarningUtils::set_warning_handler(&one_line);
}

}  // namespace dlcheck::reference
