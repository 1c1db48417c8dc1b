#include "checks/catalog/examples/example_runs.h"
#include "checks/catalog/findings/lacking_gradients.h"
#include "checks/catalog/findings/parameter_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/gradients/gradients.h"
#include "checks/signals/loss/loss_curve.h"
#include "checks/signals/run/stated.h"

namespace dlcheck::gradients {
namespace {

constexpr Setting kSteps{
    .name = "steps",
    .value = 8,
    .low = 1,
    .high = 1e6,
    .unit = "steps",
    .meaning = "fewest sampled steps without a nonzero gradient for a finding",
    .source = "own reasoning: conditional parameters receive a gradient in some of 8 batches"};

using GraphCuts = Stated<Quantity::kGraphCut>;
constexpr double kNoOutput = 1;  // as the probe writes it

// Where the graph of the first training forward ends behind one of these parameters.
void TellCut(const GraphCuts& cuts, Finding& finding) {
  for (const Place& place : finding.places) {
    const std::string layer = place.thing.substr(0, place.thing.rfind('.'));
    for (const Statement& cut : cuts.all) {
      if (cut.name != layer || cut.site.line == 0) continue;
      finding.message += cut.value == kNoOutput
                             ? StrCat(" The output of ", layer, " has no gradient.")
                             : StrCat(" The output of ", layer, " has a gradient, and the input ",
                                      "of a layer called after it has none.");
      finding.places.insert(finding.places.begin(),
                            {.thing = "", .file = cut.site.file, .line = cut.site.line});
      return;
    }
  }
}

absl::StatusOr<Verdict> Judge(const Settings& settings, const Gradients& gradients,
                              const IfSeen<GraphCuts>& cuts, const IfSeen<LossCurve>& loss) {
  if (!gradients.backward_seen) return absl::NotFoundError("no backward call was seen");
  const auto steps = static_cast<int64_t>(gradients.steps.size());
  if (static_cast<double>(steps) < settings[kSteps]) {
    return absl::NotFoundError(
        StrCat("only ", Counted(steps, "step"), " of the ", settings[kSteps], " required steps"));
  }
  const Lacking lacking = LackingGradients(gradients, settings[kSteps], loss ? &*loss : nullptr);
  Verdict verdict{.findings = {}, .judged = JudgedParameters(lacking.judged, gradients)};
  const auto report = [&](Severity severity, const std::vector<std::string>& names,
                          const std::string& fate) {
    if (names.empty()) return;
    verdict.findings.push_back(
        FindingAt(names, severity,
                  StrCat(names.size(), " of ", lacking.judged, " optimized parameters (",
                         Listed(names), ") ", fate),
                  gradients));
  };
  const std::string span = Counted(steps, "sampled step");
  const std::string zero = StrCat("had a gradient of exactly zero in all of ", span);
  report(
      lacking.cut_off ? Severity::kError : Severity::kWarning, lacking.absent,
      StrCat("received no gradient in any of ", span, ", although their module ran in training."));
  if (cuts && !verdict.findings.empty()) TellCut(*cuts, verdict.findings.back());
  const std::string reason = ReasonOfZeros(lacking, loss ? &*loss : nullptr);
  if (lacking.all_zero()) {
    std::vector<std::string> all = lacking.zero_matrices;
    all.insert(all.end(), lacking.zero_vectors.begin(), lacking.zero_vectors.end());
    report(Severity::kError, all, StrCat(zero, ": nothing trains.", reason));
  } else {
    report(Severity::kWarning, lacking.zero_matrices, StrCat(zero, ".", reason));
    report(Severity::kNote, lacking.zero_vectors, StrCat(zero, "."));
  }
  report(Severity::kNote, lacking.unused,
         StrCat("received no gradient: their module did not run in the training forwards of ", span,
                "."));
  if (!lacking.strangers.empty()) {
    verdict.findings.push_back(FindingAt(
        lacking.strangers, Severity::kNote,
        StrCat("Parameters of an optimizer that belong to no module of the training forwards (",
               Listed(lacking.strangers), ") received no gradient in ", span, "."),
        gradients));
  }
  return verdict;
}

Evidence SixteenSteps(std::optional<double> trunk_gradient, double loss = 2.3, double head = 0.2,
                      double weight = 1) {
  RunBuilder run = TwoLayers();
  for (int step = 0; step < 16; ++step) {
    for (const char* name : {"trunk.weight", "head.weight"})
      run.Quantity(Quantity::kWeightNorm, "parameter", name, weight);
    AddStep(run,
            {.loss = loss, .trunk_gradient = trunk_gradient, .head_gradient = head, .held = {}});
  }
  return PlainOnly(run);
}

// A bias and its weight, with these gradients.
Evidence WithBias(double weight_gradient, double bias_gradient) {
  RunBuilder run = TwoLayers();
  run.Attribute("parameter", "head.bias", "optimizer", "optimizer#0/group#0");
  for (int step = 0; step < 16; ++step) {
    run.Quantity(Quantity::kGradientNorm, "parameter", "head.bias", bias_gradient);
    AddStep(run, {.trunk_gradient = 0.1, .head_gradient = weight_gradient, .held = {}});
  }
  return PlainOnly(run);
}

}  // namespace

Check Missing() {
  return {
      .id = "gradients/missing",
      .title = "Parameters receive no gradient",
      .promise = "Every optimized parameter that the model uses receives a gradient.",
      .why =
          "A parameter without a gradient keeps its initial value forever. A part of the model "
          "stays random and only looks trained.",
      .method =
          "Looks for optimized parameters that require a gradient and whose module ran in a "
          "training forward. Reports those without a gradient at any sampled step, or with a "
          "gradient of exactly zero at every sampled step. In a Python program, the line is the "
          "call of the first layer whose input has no gradient any more.",
      .fix =
          "Check that the output of the named module is part of the loss that backward() starts "
          "from: a later `loss =` may replace it. Look between them for .detach(), .data, .item() "
          "and torch.no_grad(). Also look for a conversion to NumPy and for operations without a "
          "gradient, such as argmax. If the weights are zero themselves, give one of the two "
          "factors random "
          "numbers. If the loss is the same in every step, although the batches differ, look for a "
          "loss over one class or of two equal arguments.",
      .limits =
          {.needs = "A backward call, and eight sampled steps of the optimizer.",
           .silent_when = "No optimizer holds the parameter. A bias has a gradient of zero, and "
                          "the weight of its layer has another. Such a bias cancels, as in the "
                          "difference of two outputs of a critic.",
           .severity =
               "Error if the first module to run is among those without a gradient, or if all "
               "gradients are zero. "
               "Otherwise a warning. Warning for weight matrices with zero gradients. Note "
               "for vectors with zero gradients, and for modules that never ran or are not known.",
           .blind_spots = "Sampled steps can miss a module that runs only every few hundred steps.",
           .sensitivity = ""},
      .python = {.bad = R"(features = encoder(x).detach()
loss = criterion(head(features), y)
loss.backward()
optimizer.step()  # trains the head only)",
                 .good = R"(features = encoder(x)
loss = criterion(head(features), y)
loss.backward()
optimizer.step())"},
      .cpp = {.bad = R"(auto features = encoder->forward(x).detach();
auto loss = criterion(head->forward(features), y);
loss.backward();)",
              .good = R"(auto features = encoder->forward(x);
auto loss = criterion(head->forward(features), y);
loss.backward();)"},
      .sources = {"PyTorch documentation of torch.autograd: Tensor.detach, no_grad",
                  "own reasoning for the three severities"},
      .covers = {"unused-layer", "detached-path", "nondifferentiable-operation",
                 "zero-weights-or-gradients", "cpp-replaced-member", "cpp-batch-norm-not-trained",
                 "cpp-guard-too-long", "wrong-activation-checkpointing", "adapter-off-the-path"},
      .explains = {"learnability/input_independence", "learnability/cannot_overfit_one_batch",
                   "gradients/vanishing", "learnability/no_better_than_constant"},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kBackward,
      .also_at = {Event::kModuleBuilt},
      .settings = {kSteps},
      .judgement = Reads<&Judge>(),
      .examples =
          {{"the trunk's gradient is tiny", Expect::kClean, [] { return SixteenSteps(1e-30); }},
           {"the trunk's gradient is zero", Expect::kWarning, [] { return SixteenSteps(0.0); }},
           {"it is zero, and so is the loss", Expect::kClean,
            [] { return SixteenSteps(0.0, 0.0); }},
           {"the bias of a critic cancels, and its weight has a gradient", Expect::kClean,
            [] { return WithBias(0.2, 0); }},
           {"neither the weight of a layer nor its bias has one", Expect::kWarning,
            [] { return WithBias(0, 0); }},
           {"all gradients are zero", Expect::kError, [] { return SixteenSteps(0.0, 2.3, 0); }},
           {"so is the loss", Expect::kError, [] { return SixteenSteps(0.0, 0.0, 0); }},
           {"so are the weights", Expect::kError, [] { return SixteenSteps(0.0, 2.3, 0, 0); }},
           {"the trunk was detached", Expect::kError, [] { return SixteenSteps(std::nullopt); }}},
  };
}

}  // namespace dlcheck::gradients
