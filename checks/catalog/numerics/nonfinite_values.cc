#include <algorithm>
#include <limits>

#include "checks/catalog/nonfinite_text.h"
#include "checks/catalog/window_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/finiteness.h"

namespace dlcheck::numerics {
namespace {

// The origin first, then all that is trained and was reached.
std::vector<Place> PlacesOf(const Finiteness::Step& first, const Finiteness::Step& step) {
  std::vector<Place> places;
  if (!first.inputs.empty()) {
    places.push_back({.thing = "input", .file = ""});
  } else if (!first.losses.empty()) {
    places.push_back({.thing = "loss", .file = ""});
  }
  for (const auto* list : {&step.gradients, &step.weights}) {
    for (const Finiteness::Seen& seen : *list) {
      const Place place{.thing = seen.name, .file = ""};
      if (std::find(places.begin(), places.end(), place) == places.end()) places.push_back(place);
    }
  }
  return places;
}

absl::StatusOr<Verdict> Judge(const Settings&, const Finiteness& finiteness) {
  Verdict verdict{.findings = {},
                  .judged = StrCat(Counted(finiteness.values_judged, "recorded value"))};
  if (finiteness.first.step < 0) return verdict;
  const Finiteness::Step& trained = finiteness.first_in_training;
  const bool only_gradients = trained.weights.empty();
  // A loss scaler finds overflow by letting gradients become infinite; it then skips the step.
  if (finiteness.scaled && only_gradients) return verdict;
  Finding finding{.severity = Severity::kError,
                  .message = "",
                  .places = PlacesOf(finiteness.first, trained),
                  .first_step = finiteness.first.step,
                  .last_step = finiteness.first.step,
                  .count = finiteness.steps_with,
                  .measured = std::numeric_limits<double>::quiet_NaN(),
                  .bound = 0};
  finding.message = StrCat("The first value that is not finite was in ", Origin(finiteness.first),
                           " at step ", finiteness.first.step);
  if (trained.step < 0) {
    finding.severity = Severity::kWarning;
    StrAppend(&finding.message, "; no update consumed it in ",
              Counted(finiteness.steps_with, "recorded step"), ".");
  } else {
    const bool same = trained.step == finiteness.first.step;
    StrAppend(&finding.message, same ? "; in the same step" : StrCat("; at step ", trained.step),
              " it reached ", Reached(trained), ".");
  }
  finding.message += BirthText(finiteness);
  verdict.findings.push_back(std::move(finding));
  return verdict;
}

Evidence GradientWith(double nonfinite_elements) {
  RunBuilder run = TwoLayers();
  for (int step = 0; step < 8; ++step) {
    AddStep(run,
            {.trunk_gradient = 3e38, .held = {}, .nonfinite = step == 5 ? nonfinite_elements : 0});
  }
  return PlainOnly(run);
}

// A loss that is infinite at step 5, and what is known of its graph.
Evidence Born(std::string_view of, std::string_view name, std::string_view step) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  RunBuilder run = TwoLayers();
  for (int i = 0; i < 8; ++i) {
    AddStep(run, {.loss = i == 5 ? kInfinite : 2, .held = {}, .nonfinite = i == 5 ? 1.0 : 0.0});
  }
  run.Attribute("loss", "cross_entropy", "born_step", step);
  run.Attribute("loss", "cross_entropy", "born_of", of);
  run.Attribute("loss", "cross_entropy", "born_name", name);
  run.Attribute("loss", "cross_entropy", "born_distance", "4");
  run.Attribute("loss", "cross_entropy", "born_low", "0");
  run.Attribute("loss", "cross_entropy", "born_high", "3.1");
  return PlainOnly(run);
}

Evidence LeftOut() {
  RunBuilder run = TwoLayers();
  for (int step = 0; step < 8; ++step) {
    BeginStep(run);
    EndStep(run, {.nonfinite = step == 5 ? 1.0 : 0.0, .taken = step != 5});
  }
  return PlainOnly(run);
}

}  // namespace

Check NonfiniteValues() {
  return {
      .id = "numerics/nonfinite_values",
      .promise =
          "No update consumes a gradient, and no weight holds a value, that is NaN or infinite.",
      .why =
          "One NaN spreads to every weight within a step or two, and nothing that is trained "
          "after it means anything.",
      .method =
          "Inputs, losses, consumed gradients and weights are tested for elements that are not "
          "finite; the finding names the first in the order input, loss, gradient, weight, and "
          "its step. Of the first such loss, the graph that is there for the backward tells in "
          "which operation it was born.",
      .fix =
          "Look at the named tensor in the named step: a log or division by zero, an exp that "
          "overflows, a square root at zero, a NaN in the data; torch.autograd.set_detect_anomaly "
          "names the operation.",
      .limits =
          "A loss that is not finite in a step that the program leaves out is a warning. While a "
          "loss scaler is at work, gradients may overflow. Weights and inputs are looked at in "
          "sampled steps, losses and gradients in every step. The birth is told by the Python shim "
          "on the CPU, where the graph saved enough to be sure of it.",
      .sources = {"own reasoning: NaN is absorbing under every optimizer's arithmetic"},
      .covers = {"N01", "N02", "N03", "N04", "N05", "N06"},
      .explains = {"capacity/input_independence", "capacity/unfittable_batch",
                   "checkpoint/nonfinite_save", "gradients/exploding", "program/failed",
                   "start/wrong_initial_loss"},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kBackward,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples =
          {{"large but finite", Expect::kClean, [] { return GradientWith(0); }},
           {"one element", Expect::kFaulty, [] { return GradientWith(1); }},
           {"a logarithm of zero", Expect::kFaulty, [] { return Born("operation", "log", "5"); }},
           {"a parameter", Expect::kFaulty, [] { return Born("parameter", "trunk.weight", "5"); }},
           {"born at another step", Expect::kFaulty, [] { return Born("operation", "log", "6"); }},
           {"one element in a step that is left out", Expect::kClean, &LeftOut}},
  };
}

}  // namespace dlcheck::numerics
