// Which checks can find nothing while the fault of another one stands.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "checks/engine/report.h"

namespace dlcheck {

struct Masked {
  std::vector<std::string> checks;  // ids, and areas where it is all of one
  std::string_view why;             // "batch statistics are not in use"
};

// Of a failed result: the checks of the report that found nothing and could not. Empty for most.
Masked MaskedBy(const Report& report, const Result& cause);

}  // namespace dlcheck
