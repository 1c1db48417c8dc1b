#include <cmath>

#include "checks/catalog/examples/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/gradients/gradients.h"
#include "checks/signals/gradients/norm_clips.h"
#include "checks/signals/loss/initial_loss.h"

namespace dlcheck::gradients {
namespace {

constexpr Setting kBound{
    .name = "bound",
    .value = 1e-7,
    .low = 0,
    .high = 1,
    .unit = "loss per weight",
    .meaning =
        "root mean square of a weight matrix's gradient below which the gradient has vanished",
    .source =
        "measured: networks of depth 10 train at 1.8e-6; below 1e-8, training is slow or fails"};
constexpr Setting kSteps{.name = "steps",
                         .value = 20,
                         .low = 1,
                         .high = 64,
                         .unit = "steps",
                         .meaning = "number of first steps, all of which must be below the bound",
                         .source = "early steps only: gradients are also small at convergence"};

// Whether the program started from loaded weights.
struct Start {
  static constexpr std::string_view kName = "start";
  bool loaded;
  static absl::StatusOr<Start> From(const Run& run) { return Start{LoadedBeforeStart(run.trace)}; }
};

// Largest root mean square over the first steps; nothing if there are too few, or all are zero.
std::optional<double> EarlyPeak(const Gradients::Parameter& parameter, double steps) {
  if (static_cast<double>(parameter.consumed.size()) < steps) return std::nullopt;
  double peak = 0;
  for (size_t i = 0; i < static_cast<size_t>(steps); ++i) {
    peak = std::max(peak, parameter.consumed[i].value / std::sqrt(parameter.elements));
  }
  if (peak == 0 || !std::isfinite(peak)) return std::nullopt;
  return peak;
}

absl::StatusOr<Verdict> Judge(const Settings& settings, const Gradients& gradients,
                              const Start& start, const IfSeen<NormClips>& clips) {
  if (start.loaded) {
    return absl::FailedPreconditionError("weights were loaded before the first step");
  }
  if (clips && clips->LeaveLessThan(settings[kBound], static_cast<size_t>(settings[kSteps]))) {
    return absl::FailedPreconditionError("the clipping bound leaves smaller gradients than that");
  }
  std::vector<Place> places;
  std::vector<std::string> names;
  double smallest = settings[kBound];
  int64_t judged = 0;
  for (const Gradients::Parameter& parameter : gradients.parameters) {
    if (parameter.optimizer.empty() || !parameter.is_matrix()) continue;
    const std::optional<double> peak = EarlyPeak(parameter, settings[kSteps]);
    if (!peak) continue;
    ++judged;
    if (*peak >= settings[kBound]) continue;
    names.push_back(parameter.name);
    places.push_back({.thing = parameter.name, .file = ""});
    smallest = std::min(smallest, *peak);
  }
  if (judged == 0) {
    return absl::NotFoundError(
        StrCat("no weight matrix with a gradient in the first ", settings[kSteps], " steps"));
  }
  Verdict verdict{.findings = {}, .judged = JudgedParameters(judged, gradients)};
  if (names.empty()) return verdict;
  verdict.findings.push_back(
      {.severity = Severity::kWarning,
       .message = StrCat("The gradients of ", names.size(), " of ", judged, " weight matrices (",
                         Listed(names), ") vanished: the root mean square stayed below ",
                         Short(settings[kBound]), " in all of the first ", settings[kSteps],
                         " steps (smallest peak ", Short(smallest), ")."),
       .places = std::move(places),
       .first_step = gradients.steps.front(),
       .last_step = static_cast<int64_t>(settings[kSteps]) - 1,
       .count = static_cast<int64_t>(names.size()),
       .measured = smallest,
       .bound = settings[kBound]});
  return verdict;
}

Evidence Steps(double root_mean_square) {
  RunBuilder run = TwoLayers();
  for (int step = 0; step < 32; ++step) {
    AddStep(run, {.trunk_gradient = root_mean_square * std::sqrt(2048.0), .held = {}});
  }
  return PlainOnly(run);
}

}  // namespace

Check Vanishing() {
  return {
      .id = "gradients/vanishing",
      .title = "The gradients of weight matrices vanish",
      .promise = "Early in training, every weight matrix receives a gradient of usable size.",
      .why =
          "Layers with vanished gradients do not learn. With Adam, rounding noise moves their "
          "weights instead.",
      .method =
          "Computes the root mean square of each optimized weight matrix's gradient at each of the "
          "first steps. Reports a matrix if all values are below the bound.",
      .fix =
          "Initialize with torch.nn.init.kaiming_normal_ or xavier_uniform_, which preserve "
          "variance. Add normalization or residual connections, and do not scale the loss down.",
      .limits = {.needs = "Optimized weight matrices with nonzero gradients in the first 20 steps.",
                 .silent_when = "Weights were loaded before the first step. The gradient vanishes "
                                "after the first steps. The clipping bound itself is that small.",
                 .severity = "Always a warning.",
                 .blind_spots = "An embedding with few used rows can look small.",
                 .sensitivity = ""},
      .python = {.bad = R"(for layer in model.layers:
    nn.init.normal_(layer.weight, std=0.001)
    nn.init.zeros_(layer.bias))",
                 .good = R"(for layer in model.layers:
    nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")
    nn.init.zeros_(layer.bias))"},
      .cpp = {.bad = "for (auto& layer : layers) nn::init::normal_(layer->weight, 0, 0.001);",
              .good = "for (auto& layer : layers) nn::init::kaiming_normal_(layer->weight);"},
      .sources = {"Glorot and Bengio 2010", "measured bound: depth 5 to 20, four initializations"},
      .covers = {"vanishing-gradients", "saturated-activations"},
      .explains = {"learnability/cannot_overfit_one_batch", "learnability/input_independence",
                   "learnability/no_better_than_constant", "training_loop/flat_loss"},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kLossComputed,
      .also_at = {Event::kModuleBuilt},
      .settings = {kBound, kSteps},
      .judgement = Reads<&Judge>(),
      .examples = {{"a small but usable gradient", Expect::kClean, [] { return Steps(1.1e-7); }},
                   {"a gradient just below the bound", Expect::kWarning,
                    [] { return Steps(0.9e-7); }}},
  };
}

}  // namespace dlcheck::gradients
