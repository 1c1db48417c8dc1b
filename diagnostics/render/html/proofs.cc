#include "diagnostics/render/html/proofs.h"

#include <algorithm>
#include <memory>
#include <set>

#include "checks/engine/text.h"

namespace dlcheck::html {
namespace {

struct Proof {
  std::string_view check, quantity;
  bool of_places;  // the series of the things that the finding names, otherwise any of the run
  std::string_view level;  // a quantity whose number is drawn as a horizontal line
  std::string_view title, caption;
  std::string_view beside = {};  // a second quantity that is drawn in the same plot
};

constexpr std::string_view kHeld =
    "Each number is the gradient norm before the first backward "
    "call of a step. It is zero where gradients were cleared.";
constexpr std::string_view kShaded = "Where only some steps are at fault, they are shaded.";

constexpr Proof kProofs[] = {
    {"optimizer/stale_gradients", "held_gradient_norm", false, "",
     "Gradient norm that a step starts with", kHeld},
    {"gradients/exploding", "total_gradient_norm", false, "", "Norm of all gradients", kShaded},
    {"gradients/missing", "gradient_norm", true, "", "Gradient norms", kShaded},
    {"gradients/always_clipped", "total_gradient_norm", false, "", "Norm of all gradients",
     "The norm that each step used, after clipping, is the bound."},
    {"numerics/nonfinite_values", "loss", false, "", "Loss",
     "The curve ends where the loss is no longer a finite number."},
    {"precision/nonfinite_step", "total_gradient_norm", false, "", "Norm of all gradients",
     kShaded},
    {"training_loop/loss_spike", "loss", false, "", "Loss", kShaded},
    {"training_loop/diverging_loss", "loss", false, "", "Loss", kShaded},
    {"training_loop/flat_loss", "loss", false, "", "Loss", "The curve does not fall."},
    {"training_loop/oscillating_loss", "loss", false, "", "Loss", kShaded},
    {"training_loop/plateaued_loss", "loss", false, "", "Loss", kShaded},
    {"optimizer/lr_too_large", "loss", false, "", "Loss", kShaded},
    {"learnability/no_better_than_constant", "loss", false, "constant_loss", "Loss",
     "The dotted line is the loss of the best constant prediction."},
    {"initialization/wrong_initial_loss", "loss", false, "", "Loss", "See the first step."},
    {"evaluation/rising_loss", "evaluation_loss", false, "", "Loss of the evaluations", kShaded},
    {"optimizer/growing_weights", "weight_norm", true, "", "Weight norm", kShaded},
    {"optimizer/excessive_weight_decay", "weight_norm", true, "", "Weight norm", kShaded},
    {"optimizer/negligible_updates", "update_ratio", true, "",
     "Update as a share of the weight norm", kShaded},
    {"optimizer/frozen_parameters_updated", "update_norm", true, "", "Norm of each update",
     kShaded},
    {"optimizer/lr_independent_update", "update_norm", true, "", "Norm of each update", kShaded},
    {"optimizer/no_op_step", "update_norm", true, "", "Norm of each update", kShaded},
    {"schedule/wrong_total_steps", "learning_rate", false, "", "Learning rate", kShaded},
    {"schedule/stepped_per_epoch", "learning_rate", false, "", "Learning rate", kShaded},
    {"schedule/never_stepped", "learning_rate", false, "", "Learning rate",
     "The learning rate never changes."},
    {"schedule/lr_is_zero", "learning_rate", false, "", "Learning rate", kShaded},
    {"schedule/decays_too_early", "learning_rate", false, "", "Learning rate", kShaded},
    {"schedule/wrong_lr", "learning_rate", false, "", "Learning rate",
     "The planned learning rate and the one that steps used.", "scheduled_rate"},
    {"schedule/unscheduled_group", "learning_rate", false, "", "Learning rate", kShaded},
    {"precision/stuck_scale", "loss_scale", false, "", "Loss scale", kShaded},
    {"precision/wrong_scale_growth", "loss_scale", false, "", "Loss scale", kShaded},
    {"performance/step_time_growth", "step_time", false, "", "Time of a step", kShaded},
    {"performance/step_stalls", "step_time", false, "", "Time of a step", kShaded},
    {"performance/idle_accelerator", "device_idle", false, "",
     "Share of a step in which the accelerator was idle", kShaded},
    {"performance/step_time", "step_time", false, "", "Time of a step", kShaded},
    {"performance/dataloader_bottleneck", "loader_wait", false, "",
     "Time that a step waits for data", kShaded},
    {"performance/memory_growth", "resident_memory", false, "", "Memory of the process", kShaded},
    {"performance/memory", "memory", false, "", "Peak memory of the process", kShaded},
};

std::vector<Line> LinesFor(const Proof& proof, const Finding& finding, const SeriesOfRun& run) {
  std::set<std::string> things;
  for (const Place& place : finding.places) things.insert(place.thing);
  std::vector<Line> lines;
  for (const Series& series : run.series) {
    const bool is_beside = !proof.beside.empty() && series.quantity == proof.beside;
    if ((series.quantity != proof.quantity && !is_beside) || lines.size() == kMostLines) continue;
    if (series.rank != 0 || series.samples == 0) continue;
    if (proof.of_places && !things.contains(series.thing)) continue;
    const std::string label = series.thing.empty() ? std::string(proof.title) : series.thing;
    lines.push_back({is_beside ? StrCat("planned: ", label) : label, &series});
  }
  return lines;
}

// The gradient norm of each parameter, in their order in the model: the median over the run.
std::optional<Plot> ProfileOf(const SeriesOfRun& run, const std::string& id) {
  const auto profile = std::make_shared<Series>();
  for (const Series& series : run.series) {
    if (series.quantity != "gradient_norm" || series.rank != 0 || series.buckets.empty()) continue;
    std::vector<double> middles;
    for (const Bucket& bucket : series.buckets) middles.push_back((bucket.low + bucket.high) / 2);
    const auto middle = middles.begin() + static_cast<std::ptrdiff_t>(middles.size() / 2);
    std::ranges::nth_element(middles, middle);
    const auto place = static_cast<int64_t>(profile->buckets.size());
    profile->buckets.push_back({place, place, *middle, *middle});
  }
  if (profile->buckets.size() < 2) return std::nullopt;
  const auto [least, most] = std::ranges::minmax(profile->buckets, {}, &Bucket::low);
  profile->first = profile->buckets.front().low;
  profile->last = profile->buckets.back().low;
  profile->least = least.low;
  profile->most = most.low;
  return Plot{.id = id,
              .title = "Gradient norm by depth",
              .caption = "From the first parameter of the model on the left to the last one.",
              .lines = {{"gradient norm", profile.get(), profile}},
              .shaded = std::nullopt,
              .level = std::nullopt,
              .axis = "parameter"};
}

}  // namespace

std::optional<Plot> ProofOf(const Check& check, const Finding& finding, const SeriesOfRun& run,
                            const std::string& id) {
  if (check.id == "gradients/vanishing") return ProfileOf(run, id);
  const auto* const proof = std::ranges::find(kProofs, check.id, &Proof::check);
  if (proof == std::end(kProofs)) return std::nullopt;
  Plot plot{.id = id,
            .title = std::string(proof->title),
            .caption = std::string(proof->caption),
            .lines = LinesFor(*proof, finding, run),
            .shaded = std::pair(finding.first_step, finding.last_step),
            .level = std::nullopt};
  if (plot.lines.empty()) return std::nullopt;
  const Series* level = proof->level.empty() ? nullptr : Find(run, proof->level);
  if (level != nullptr && level->samples > 0) plot.level = level->last;
  return plot;
}

}  // namespace dlcheck::html
