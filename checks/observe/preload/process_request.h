// What `dlcheck run` asks of this process.
#pragma once

#include <optional>
#include <string_view>

#include "checks/records/request.h"

namespace dlcheck {

// None outside of `dlcheck run`, and after another probe took over.
std::optional<Request>& RequestOfProcess();

// Whether that asks for this experiment. Read as the first function of LibTorch is called.
bool IsExperiment(std::string_view word);

}  // namespace dlcheck
