#include "checks/catalog/example_runs.h"
#include "checks/catalog/parameter_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/gradients.h"

namespace dlcheck::gradients {
namespace {

constexpr Setting kSteps{.name = "steps",
                         .value = 8,
                         .low = 1,
                         .high = 1e6,
                         .unit = "steps",
                         .meaning = "sampled steps in which a gradient may be absent or zero",
                         .source =
                             "own reasoning: parameters behind a condition get a gradient "
                             "in some of 8 batches"};

bool AllZero(const Gradients::Parameter& parameter) {
  for (const Sample& sample : parameter.consumed) {
    if (sample.value != 0) return false;
  }
  return true;
}

// The parameters that should have a gradient, by what they lack.
struct Lacking {
  std::vector<std::string> absent, unused, zero_matrices, zero_vectors;
  bool cut_off = false;  // what runs first has no gradient: the path to the loss is cut behind it
  int64_t judged = 0;
};

Lacking Sort(const Gradients& gradients, double enough) {
  Lacking lacking;
  for (const Gradients::Parameter& parameter : gradients.parameters) {
    if (parameter.optimizer.empty() || !parameter.requires_grad || parameter.orphan) continue;
    if (static_cast<double>(parameter.optimizer_steps) < enough) continue;
    ++lacking.judged;
    if (parameter.consumed.empty()) {
      (parameter.module_ran ? lacking.absent : lacking.unused).push_back(parameter.name);
      lacking.cut_off = lacking.cut_off || (parameter.module_ran && parameter.first_to_run);
    } else if (static_cast<double>(parameter.consumed.size()) >= enough && AllZero(parameter)) {
      (parameter.is_matrix() ? lacking.zero_matrices : lacking.zero_vectors)
          .push_back(parameter.name);
    }
  }
  return lacking;
}

absl::StatusOr<Verdict> Judge(const Settings& settings, const Gradients& gradients) {
  if (!gradients.backward_seen) return absl::NotFoundError("no backward call was seen");
  const auto steps = static_cast<int64_t>(gradients.steps.size());
  if (static_cast<double>(steps) < settings[kSteps]) {
    return absl::NotFoundError(
        StrCat("only ", Counted(steps, "step"), " of the ", settings[kSteps], " that are needed"));
  }
  const Lacking lacking = Sort(gradients, settings[kSteps]);
  Verdict verdict{.findings = {}, .judged = JudgedParameters(lacking.judged, gradients)};
  const auto report = [&](Severity severity, const std::vector<std::string>& names,
                          const std::string& fate) {
    if (names.empty()) return;
    verdict.findings.push_back(
        FindingAt(names, severity,
                  StrCat(names.size(), " of ", lacking.judged, " optimized parameters (",
                         Listed(names), ") ", fate, "."),
                  gradients));
  };
  const std::string span = Counted(steps, "sampled step");
  const std::string zero = StrCat("had a gradient of exactly zero in all of ", span);
  report(lacking.cut_off ? Severity::kError : Severity::kWarning, lacking.absent,
         StrCat("got no gradient in any of ", span, ", although their module ran in training"));
  report(Severity::kWarning, lacking.zero_matrices, zero);
  // In a difference of two outputs of one layer its bias cancels exactly, as in a critic's loss.
  report(Severity::kNote, lacking.zero_vectors, zero);
  report(Severity::kNote, lacking.unused,
         StrCat("got no gradient; their module did not run in the training forwards of ", span));
  return verdict;
}

Evidence Steps(std::optional<double> trunk_gradient) {
  RunBuilder run = TwoLayers();
  for (int step = 0; step < 16; ++step)
    AddStep(run, {.trunk_gradient = trunk_gradient, .held = {}});
  return PlainOnly(run);
}

}  // namespace

Check Missing() {
  return {
      .id = "gradients/missing",
      .promise = "Every parameter that is optimized and was used receives a gradient.",
      .why =
          "A parameter without a gradient keeps its initial value for ever: a part of the model "
          "is random and only looks trained.",
      .method =
          "A parameter fails if it is in an optimizer, requires a gradient, its module ran in "
          "a training forward, and no gradient was there at any sampled optimizer step. A "
          "gradient that was exactly zero at every sampled step is a warning; a module that "
          "never ran is a note.",
      .fix =
          "Look between the named module and the loss for .detach(), torch.no_grad(), .data, "
          ".item(), a conversion to NumPy, or an operation without a derivative such as argmax.",
      .limits =
          "A parameter of no optimizer is not judged. A module that runs only every few "
          "hundred steps can be missed by the sampled steps.",
      .sources = {"PyTorch documentation of torch.autograd: Tensor.detach, no_grad",
                  "own reasoning for the three severities"},
      .covers = {"M02", "M05", "M06", "O20", "B02", "B05", "B07"},
      .explains = {"learnability/input_independence", "learnability/cannot_overfit_one_batch",
                   "gradients/vanishing"},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kBackward,
      .settings = {kSteps},
      .judgement = Reads<&Judge>(),
      .examples = {{"the trunk's gradient is tiny", Expect::kClean, [] { return Steps(1e-30); }},
                   {"the trunk's gradient is zero", Expect::kFaulty, [] { return Steps(0.0); }},
                   {"the trunk was detached", Expect::kFaulty, [] { return Steps(std::nullopt); }}},
  };
}

}  // namespace dlcheck::gradients
