#include <algorithm>
#include <limits>

#include "checks/catalog/nonfinite_runs.h"
#include "checks/catalog/nonfinite_text.h"
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

// What made the first such value; a replay knows it better than the graph of a loss.
void TellBirth(const Finiteness& finiteness, const Replay* replay, Finding& finding) {
  const bool told = replay != nullptr && replay->untold.empty();
  if (!told) finding.message += BirthText(finiteness);
  if (replay != nullptr) finding.message += ReplayText(*replay);
  if (!told || replay->line == 0) return;
  finding.places.insert(finding.places.begin(),
                        {.thing = replay->module, .file = replay->file, .line = replay->line});
}

absl::StatusOr<Verdict> Judge(const Settings&, const Finiteness& finiteness,
                              const IfSeen<During<kReplayed, Replay>>& replay) {
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
  TellBirth(finiteness, replay.signal, finding);
  verdict.findings.push_back(std::move(finding));
  return verdict;
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
          "which operation it was born. With --deep the program runs again to that step, where "
          "every "
          "operation is looked at, forward, backward and in the update: named is the one from "
          "whose "
          "finite inputs the loss, gradient or weight stopped being finite, with the samples.",
      .fix =
          "Look at the named tensor in the named step: a log or division by zero, an exp that "
          "overflows, a square root at zero, a NaN in the data; torch.autograd.set_detect_anomaly "
          "names the operation.",
      .limits =
          "A loss that is not finite in a step that the program leaves out is a warning. While a "
          "loss scaler is at work, gradients may overflow. Weights and inputs are looked at in "
          "sampled steps, losses and gradients in every step. The birth is told by the Python shim "
          "on the CPU, where the graph saved enough to be sure of it; a replay tells nothing of "
          "what torch compiled, and of a run that takes another course each time.",
      .sources = {"own reasoning: NaN is absorbing under every optimizer's arithmetic"},
      .covers = {"N01", "N02", "N03", "N04", "N05", "N06"},
      .explains = {"learnability/input_independence", "learnability/cannot_overfit_one_batch",
                   "checkpoint/nonfinite_save", "gradients/exploding", "program/failed",
                   "initialization/wrong_initial_loss"},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kBackward,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples =
          {{"large but finite", Expect::kClean, [] { return GradientWith(0); }},
           {"one element", Expect::kFaulty, [] { return GradientWith(1); }},
           {"a logarithm of zero", Expect::kFaulty, [] { return Born("operation", "log", "5"); }},
           {"a logarithm of zero, replayed", Expect::kFaulty, &Replayed},
           {"a parameter", Expect::kFaulty, [] { return Born("parameter", "trunk.weight", "5"); }},
           {"born at another step", Expect::kFaulty, [] { return Born("operation", "log", "6"); }},
           {"a mask that is not trained", Expect::kClean, &MaskKept},
           {"one element in a step that is left out", Expect::kClean, &LeftOut}},
  };
}

}  // namespace dlcheck::numerics
