// Layers that a model creates in its own forward, uses once and drops.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "checks/engine/trace.h"

namespace dlcheck {

struct BuiltLayers {
  static constexpr std::string_view kName = "layers built in forwards";
  struct Class {
    std::string name;      // "Linear"
    int64_t layers = 0;    // when it was reported
    bool matters = false;  // they have weights drawn at random, or statistics
    int64_t step = 0;
    NamedSite site;  // where they run; line 0 if not known
  };
  std::vector<Class> classes;
  int64_t forwards = 0;  // of models, in training, in sampled steps

  // Of the first process only. Errors: NotFound if no training forward was observed.
  static absl::StatusOr<BuiltLayers> From(const Run& run);
};

}  // namespace dlcheck
