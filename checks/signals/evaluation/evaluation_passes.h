// Evaluations as passes over data: the data, the share of rows already trained on, and the loss.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "checks/engine/trace.h"

namespace dlcheck {

struct EvaluationPasses {
  static constexpr std::string_view kName = "evaluation passes";
  using Digest = std::pair<double, double>;  // upper and lower half
  struct Pass {
    int64_t step = 0;
    int64_t batches = 0, in_training_mode = 0;
    int64_t fed = 0;            // batches for each of which a loader had handed one out
    std::set<ThingId> loaders;  // that fed it
    double handed_out = 0;      // samples in the batches that fed it
    std::set<std::string> models;
    double trained = -1, different = 0;  // rows trained on, of the different ones; -1: not known
    double repeated = 0, rows = 0;       // rows equal to another, of all
    double loss = std::numeric_limits<double>::quiet_NaN();
    double samples = 0;
    std::optional<Digest> data;     // of all inputs in order
    std::optional<Digest> weights;  // of the model, before it
    uint64_t began = 0, ended = 0;  // orders of records
  };
  struct Loader {
    std::string name;
    double samples = 0, batch_size = 0;  // 0: not known
    bool is_sharded = false;             // across ranks
  };
  std::vector<Pass> passes;           // that ended in a sampled step, in order
  std::map<ThingId, Loader> loaders;  // that fed a pass
  int64_t steps = 0;                  // sampled
  size_t optimizers = 0;              // that stepped
  bool loads_later = false;           // state was put into a model after the first step
  bool mode_dependent = false;        // some module gives other outputs in training mode

  // Of the first process. Errors: NotFound if no evaluation was observed.
  static absl::StatusOr<EvaluationPasses> From(const Run& run);
};

}  // namespace dlcheck
