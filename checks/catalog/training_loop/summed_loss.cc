#include <algorithm>
#include <cmath>

#include "checks/catalog/examples/example_runs.h"
#include "checks/catalog/findings/loss_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"

namespace dlcheck::training_loop {
namespace {

constexpr Setting kSteps{.name = "steps",
                         .value = 8,
                         .low = 1,
                         .high = 1e6,
                         .unit = "sampled steps",
                         .meaning = "steps in which the loss must be the whole sum",
                         .source = "own reasoning"};

constexpr Setting kTolerance{.name = "tolerance",
                             .value = 1e-3,
                             .low = 1e-6,
                             .high = 0.05,
                             .unit = "1",
                             .meaning = "relative difference from the number of targets",
                             .source = "own reasoning: a sum in fp32 is exact to 1e-4"};

// Of the samples of one step: whether each is the sum over all its targets or a multiple of it, or
// such a sum divided by the number of micro-batches.
bool AreSumsOfStep(std::span<const Sample> shares, double tolerance) {
  const auto count = static_cast<double>(shares.size());
  return std::ranges::all_of(shares, [&](const Sample& share) {
    return share.value >= (1 - tolerance) * share.aux ||
           std::abs(share.value * count - share.aux) <= tolerance * share.aux;
  });
}

// Over a single target, sum and mean are the same.
bool AreSums(std::span<const Sample> shares, double tolerance) {
  if (std::ranges::none_of(shares, [](const Sample& share) { return share.aux > 1; })) return false;
  while (!shares.empty()) {
    const auto other = std::ranges::find_if(
        shares, [&](const Sample& share) { return share.step != shares.front().step; });
    const auto count = static_cast<size_t>(other - shares.begin());
    if (!AreSumsOfStep(shares.first(count), tolerance)) return false;
    shares = shares.subspan(count);
  }
  return true;
}

absl::StatusOr<Verdict> Judge(const Settings& settings, const LossFunctions& losses) {
  Verdict verdict;
  int64_t judged = 0;
  for (const LossFunctions::Function& function : losses.functions) {
    const bool alone = !function.shares.empty();
    const std::span<const Sample> shares = alone ? function.shares : function.terms;
    const int64_t steps = StepsOf(shares);
    if (static_cast<double>(steps) < settings[kSteps]) continue;
    ++judged;
    if (function.reduction != "sum" || !AreSums(shares, settings[kTolerance])) continue;
    const auto [least, most] = std::ranges::minmax(shares, {}, &Sample::aux);
    const std::string targets =
        least.aux == most.aux ? StrCat(least.aux) : StrCat(least.aux, " to ", most.aux);
    const bool declared = losses.declared_reduction == "mean";
    if (!declared && !losses.declared_reduction.empty()) continue;
    verdict.findings.push_back(LossFinding(
        function, declared ? Severity::kError : Severity::kNote,
        StrCat("In all ", Counted(steps, "sampled step"), ", backward() used the sum of ",
               function.name, " over ", targets, " targets", alone ? "" : " beside other terms",
               ", so the step size grows with the batch size."),
        shares, most.aux, 1));
  }
  if (judged == 0) {
    return absl::NotFoundError(StrCat("no loss was seen with its outputs and targets in ",
                                      settings[kSteps], " sampled steps"));
  }
  verdict.judged = Counted(judged, "loss function");
  return verdict;
}

// Eight steps of a summed loss over 32 targets, of which backward starts from `share` means, and
// other terms if it is not `alone`; `calls`: micro-batches of a step.
Evidence Summed(double share, std::string_view declared, bool alone = true, int calls = 1) {
  RunBuilder run = TwoLayers();
  run.Attribute("loss", "cross_entropy", "reduction", "sum");
  if (!declared.empty()) run.Process("declared.reduction", declared);
  for (int step = 0; step < 8; ++step) {
    for (int call = 0; call < calls; ++call) {
      run.Quantity(alone ? Quantity::kLossShare : Quantity::kLossTermShare, "loss", "cross_entropy",
                   share, 32);
    }
    AddStep(run, {.loss = 2.3 * share, .held = {}});
  }
  return PlainOnly(run);
}

}  // namespace

Check SummedLoss() {
  return {
      .id = "training_loop/summed_loss",
      .title = "The loss is a sum and grows with the batch size",
      .promise =
          "The size of an optimizer step does not grow with the number of targets in its batch.",
      .why =
          "With a summed loss, the effective learning rate depends on the batch size. A smaller "
          "last batch makes a smaller step.",
      .method =
          "Compares the gradient at backward with that of the mean loss over the same targets. "
          "With reduction='sum', the ratio is the number of targets or more in every sampled step. "
          "Over micro-batches, it is that number divided by their count. A loss that is one of "
          "several terms is judged alike.",
      .fix = "Use reduction='mean', or divide the sum by the number of targets.",
      .limits =
          {.needs =
               "A torch loss function with recorded outputs and targets in eight sampled steps.",
           .silent_when = "Another reduction is declared. Losses computed by "
                          "hand are not judged.",
           .severity = "Error if reduction = \"mean\" is declared. Otherwise "
                       "note, because a sum may be intentional, as in a likelihood.",
           .blind_spots = "",
           .sensitivity = ""},
      .python = {.bad = R"(criterion = nn.CrossEntropyLoss(reduction="sum")
loss = criterion(model(x), y)
loss.backward())",
                 .good = R"(criterion = nn.CrossEntropyLoss(reduction="mean")
loss = criterion(model(x), y)
loss.backward())"},
      .cpp = {.bad = R"(auto options = F::CrossEntropyFuncOptions().reduction(torch::kSum);
F::cross_entropy(model->forward(x), y, options).backward();)",
              .good = R"(auto options = F::CrossEntropyFuncOptions().reduction(torch::kMean);
F::cross_entropy(model->forward(x), y, options).backward();)"},
      .sources = {"own reasoning: the gradient of a sum of n is n times that of their mean"},
      .covers = {"summed-instead-of-averaged-loss"},
      .explains = {},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kLossComputed,
      .also_at = {Event::kModuleBuilt},
      .settings = {kSteps, kTolerance},
      .judgement = Reads<&Judge>(),
      .examples =
          {{"a sum divided by the number of targets", Expect::kClean,
            [] { return Summed(1, "mean"); }},
           {"a sum over 32 targets", Expect::kError, [] { return Summed(32, "mean"); }},
           {"the same, undeclared", Expect::kNote, [] { return Summed(32, ""); }},
           {"a sum times a fixed scale", Expect::kNote, [] { return Summed(128 * 32, ""); }},
           {"a sum divided by four, in one backward", Expect::kClean, [] { return Summed(8, ""); }},
           {"a sum divided by four micro-batches", Expect::kNote,
            [] { return Summed(8, "", true, 4); }},
           {"a sum beside other terms", Expect::kNote, [] { return Summed(32, "", false); }},
           {"the same, divided by the number of targets", Expect::kClean,
            [] { return Summed(1, "", false); }},
           {"a declared sum", Expect::kClean, [] { return Summed(32, "sum"); }}},
  };
}

}  // namespace dlcheck::training_loop
