#include <cmath>

#include "checks/catalog/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/gradients.h"
#include "checks/signals/initial_loss.h"

namespace dlcheck::gradients {
namespace {

constexpr Setting kBound{.name = "bound",
                         .value = 1e-7,
                         .low = 0,
                         .high = 1,
                         .unit = "loss per weight",
                         .meaning =
                             "root mean square of a weight matrix's gradient below which it "
                             "counts as vanished",
                         .source =
                             "measured: nets of depth 10 train at 1.8e-6; below 1e-8 they "
                             "train slowly or not at all"};
constexpr Setting kSteps{.name = "steps",
                         .value = 20,
                         .low = 1,
                         .high = 64,
                         .unit = "steps",
                         .meaning = "first steps that must all be below the bound",
                         .source = "early steps only: a gradient is small at convergence too"};

// Whether the program began from weights of its own making.
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
                              const Start& start) {
  if (start.loaded) {
    return absl::FailedPreconditionError("weights were loaded before the first step");
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
                         Listed(names),
                         ") vanish: their root mean square "
                         "stayed below ",
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
      .promise = "Early in training every weight matrix receives a gradient of usable size.",
      .why =
          "Layers whose gradient has vanished do not learn; with Adam they move by rounding "
          "noise instead.",
      .method =
          "Root mean square of the gradient of each weight matrix that is optimized, as the "
          "step consumed it, at each of the first steps; it is reported if all are below the "
          "bound.",
      .fix =
          "Use an initialisation that keeps variance (torch.nn.init.kaiming_normal_ or "
          "xavier_uniform_), add normalisation or residual connections, and do not scale the "
          "loss down.",
      .limits =
          "Judges the first steps only, and nothing after weights were loaded. An embedding "
          "of which few rows are used can look small.",
      .sources = {"Glorot and Bengio 2010", "measured bound: depth 5 to 20, four initialisations"},
      .covers = {"O18", "M14"},
      .explains = {"learnability/cannot_overfit_one_batch", "learnability/input_independence"},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kBackward,
      .settings = {kBound, kSteps},
      .judgement = Reads<&Judge>(),
      .examples = {{"small but usable", Expect::kClean, [] { return Steps(1.1e-7); }},
                   {"just below the bound", Expect::kFaulty, [] { return Steps(0.9e-7); }}},
  };
}

}  // namespace dlcheck::gradients
