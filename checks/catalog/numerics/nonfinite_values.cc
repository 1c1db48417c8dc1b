#include <algorithm>
#include <limits>

#include "checks/catalog/examples/nonfinite_runs.h"
#include "checks/catalog/findings/nonfinite_text.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/gradients/finiteness.h"

namespace dlcheck::numerics {
namespace {

// The origin first, then all gradients and weights that a non-finite value reached.
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

// The origin of the first such value; a replay knows it better than the graph of a loss.
void TellBirth(const Finiteness& finiteness, const Replay* replay, Finding& finding) {
  const bool told = replay != nullptr && replay->untold.empty();
  if (!told) finding.message += BirthText(finiteness);
  if (replay != nullptr) finding.message += ReplayText(*replay);
  if (told && replay->path.size() > 1) finding.chain = replay->path;
  const Finiteness::Birth& birth = finiteness.birth;
  if (!told && birth.line > 0) {
    finding.places.insert(finding.places.begin(),
                          {.thing = birth.name, .file = birth.file, .line = birth.line});
  }
  if (!told || replay->line == 0) return;
  finding.places.insert(finding.places.begin(),
                        {.thing = replay->module, .file = replay->file, .line = replay->line});
}

absl::StatusOr<Verdict> Judge(const Settings&, const Finiteness& finiteness,
                              const IfSeen<During<kReplay, Replay>>& replay) {
  Verdict verdict{.findings = {},
                  .judged = StrCat(Counted(finiteness.values_judged, "recorded value"))};
  if (finiteness.first.step < 0) return verdict;
  const Finiteness::Step& trained = finiteness.first_in_training;
  const bool only_gradients = trained.weights.empty();
  // A loss scaler finds overflow by letting gradients become infinite; it then skips the step.
  if (finiteness.scaled && only_gradients && finiteness.first.inputs.empty()) return verdict;
  Finding finding{.severity = Severity::kError,
                  .message = "",
                  .places = PlacesOf(finiteness.first, trained),
                  .first_step = finiteness.first.step,
                  .last_step = finiteness.first.step,
                  .count = finiteness.steps_with,
                  .measured = std::numeric_limits<double>::quiet_NaN(),
                  .bound = 0};
  finding.message = StrCat("The first non-finite value (NaN or Inf) was in ",
                           Origin(finiteness.first), " at step ", finiteness.first.step);
  if (trained.step < 0) {
    finding.severity = Severity::kWarning;
    StrAppend(&finding.message, ", but no update used one in ",
              Counted(finiteness.steps_with, "recorded step"), ".");
  } else {
    const bool same = trained.step == finiteness.first.step;
    StrAppend(&finding.message, same ? ". In the same step" : StrCat(". At step ", trained.step),
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
      .title = "NaN or Inf reaches the weights",
      .promise = "No update uses, and no weight holds, a non-finite value (NaN or Inf).",
      .why =
          "One NaN spreads to every weight within a step or two. All later training is worthless.",
      .method =
          "Tests inputs, losses, used gradients and weights for non-finite elements, and names the "
          "first one in this order. The autograd graph of the first such loss shows the operation "
          "of its origin. With --deep, a replay up to that step checks every operation in forward, "
          "backward and update. The replay names the operation with finite inputs and a non-finite "
          "result, and the samples.",
      .fix =
          "Look at the named tensor in the named step. Typical causes: log or division by zero, an "
          "exp that overflows, a square root at zero, NaN in the data. Call "
          "torch.autograd.set_detect_anomaly(True) to see the operation.",
      .limits = {.needs = "A recorded loss, gradient or weight.",
                 .silent_when =
                     "A loss scaler is active, and only gradients and losses are not finite.",
                 .severity =
                     "Error. Warning for a non-finite loss in a step that the program skips.",
                 .blind_spots =
                     "Weights and inputs are checked in sampled steps only, losses and "
                     "gradients in every step. Python programs report the origin on the "
                     "CPU and CUDA only, if the graph saved enough. A replay sees nothing inside "
                     "compiled code, nor in a run that differs each time.",
                 .sensitivity = ""},
      .python = {.bad = R"(p = torch.softmax(logits, dim=1)
entropy = -(p * torch.log(p)).sum(1)  # 0 * log(0) is NaN
loss = criterion(logits, y) - 0.01 * entropy.mean())",
                 .good = R"(log_p = torch.log_softmax(logits, dim=1)
entropy = -(log_p.exp() * log_p).sum(1)
loss = criterion(logits, y) - 0.01 * entropy.mean())"},
      .cpp = {.bad = R"(auto p = torch::softmax(logits, 1);
auto entropy = -(p * p.log()).sum(1);  // 0 * log(0) is NaN
auto loss = criterion(logits, y) - 0.01 * entropy.mean();)",
              .good = R"(auto log_p = torch::log_softmax(logits, 1);
auto entropy = -(log_p.exp() * log_p).sum(1);
auto loss = criterion(logits, y) - 0.01 * entropy.mean();)"},
      .sources = {"own reasoning: NaN is absorbing under every optimizer's arithmetic"},
      .covers = {"log-of-nonpositive", "division-by-zero", "infinite-gradient-of-root",
                 "exponential-overflow", "masked-nan", "function-domain-violation",
                 "nonfinite-inputs", "unsafe-hand-written-loss", "fully-masked-row",
                 "constant-feature-divided-by-zero", "nonfinite-clip-norm"},
      .explains = {"precision/skipped_steps", "learnability/input_independence",
                   "learnability/cannot_overfit_one_batch", "checkpoint/nonfinite_save",
                   "gradients/exploding", "program/failed", "learnability/no_better_than_constant"},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kLossComputed,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"a large but finite gradient", Expect::kClean, [] { return GradientWith(0); }},
                   {"one NaN in a gradient", Expect::kError, [] { return GradientWith(1); }},
                   {"a logarithm of zero", Expect::kError,
                    [] { return Born("operation", "log", "5"); }},
                   {"a logarithm of zero, replayed", Expect::kError, &Replayed},
                   {"a NaN in a parameter", Expect::kError,
                    [] { return Born("parameter", "trunk.weight", "5"); }},
                   {"an origin known only for a later step", Expect::kError,
                    [] { return Born("operation", "log", "6"); }},
                   {"a mask that is not trained", Expect::kClean, &MaskKept},
                   {"one NaN in a skipped step", Expect::kClean, &LeftOut}},
  };
}

}  // namespace dlcheck::numerics
