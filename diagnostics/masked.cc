#include "diagnostics/masked.h"

#include <algorithm>

namespace dlcheck {
namespace {

struct Entry {
  std::vector<std::string_view> causes;
  std::vector<std::string_view> masked;  // ids, and areas
  std::string_view why;
};

// Source: programs with two and three faults at once, tests/programs/several_faults_test.py.
const std::vector<Entry>& Table() {
  static const std::vector<Entry> table{
      {{"numerics/nonfinite_values", "precision/skipped_steps"},
       {"gradients", "learnability", "optimizer", "schedule"},
       "steps on NaN or Inf tell nothing"},
      {{"optimizer/no_op_step", "optimizer/never_stepped", "optimizer/negligible_updates",
        "optimizer/unsuitable_epsilon", "schedule/lr_is_zero"},
       {"initialization/identical_units", "learnability", "model/dead_relu_units",
        "model/saturated_units", "optimizer/growing_weights"},
       "the weights hardly change"},
      {{"gradients/missing", "gradients/vanishing", "model/dead_relu_units",
        "model/saturated_units"},
       {"initialization/identical_units", "optimizer/unsuitable_epsilon"},
       "gradients are zero or missing"},
      {{"initialization/identical_units"}, {"model/saturated_units"}, "all units are one"},
      {{"gradients/zeroed_during_accumulation"},
       {"optimizer/stale_gradients", "training_loop/doubly_divided_loss",
        "training_loop/short_accumulation_window", "training_loop/unscaled_accumulation",
        "training_loop/unweighted_accumulation"},
       "no gradients add up"},
      {{"training_loop/doubly_divided_loss", "training_loop/unscaled_accumulation"},
       {"training_loop/short_accumulation_window", "training_loop/unweighted_accumulation"},
       "the weights of micro-batches are wrong already"},
      {{"model/initial_statistics", "training_loop/training_in_eval_mode"},
       {"model/batch_norm_tiny_batch"},
       "batch statistics are not in use"},
      {{"data/shifted_targets", "model/swapped_batch_axis"},
       {"data/carried_state", "data/shifted_targets", "model/swapped_batch_axis"},
       "positions and samples are mixed up already"},
  };
  return table;
}

bool Fits(std::string_view masked, const Check& check) {
  return masked == check.id || masked == AreaOf(check.id);
}

// Whether anything that the word stands for was judged or asked for, and whether all of it found
// nothing.
bool FoundNothing(const Report& report, std::string_view masked) {
  bool is_there = false;
  for (const Result& result : report.results) {
    if (!Fits(masked, *result.check)) continue;
    is_there = true;
    if (masked == result.check->id && !result.verdict.findings.empty()) return false;
  }
  return is_there;
}

}  // namespace

Masked MaskedBy(const Report& report, const Result& cause) {
  for (const Entry& entry : Table()) {
    if (std::ranges::find(entry.causes, cause.check->id) == entry.causes.end()) continue;
    Masked masked{.checks = {}, .why = entry.why};
    for (const std::string_view word : entry.masked) {
      if (word != cause.check->id && FoundNothing(report, word)) masked.checks.emplace_back(word);
    }
    return masked;
  }
  return {};
}

}  // namespace dlcheck
