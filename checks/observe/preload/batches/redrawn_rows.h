// Evaluations whose inputs change although a loader takes them from one data set in a fixed order,
// with the same targets.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_set>

#include "checks/observe/preload/losses/loss_given.h"
#include "checks/observe/preload/samplers.h"
#include "checks/observe/probe/probe_recorder.h"

namespace dlcheck {

class RedrawnRows {
 public:
  // A batch enters a model in an evaluation; `batch`: what a sampler chose for it, if one did.
  void Enters(const std::optional<ChosenBatch>& batch);
  // A loss in it is given its targets.
  void Evaluated(const LossGiven& loss);
  // `rows`: the numbers of all of its rows.
  void EvaluationEnds(uint32_t model, const std::unordered_set<uint64_t>& rows,
                      ProbeRecorder& recorder);

 private:
  struct Evaluation {
    bool is_in_order = true;                   // all of it
    std::optional<uint64_t> samples, targets;  // digests of those of the first batch
    std::unordered_set<uint64_t> rows;
  };
  static bool AreOthers(const Evaluation& now, const Evaluation& before);

  Evaluation now_, before_, earlier_;  // the one under way, the last one, the one before that
};

}  // namespace dlcheck
