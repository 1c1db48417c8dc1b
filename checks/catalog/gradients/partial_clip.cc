#include "checks/catalog/examples/example_runs.h"
#include "checks/catalog/findings/step_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/gradients/clipped_shares.h"

namespace dlcheck::gradients {
namespace {

constexpr Setting kSteps{.name = "steps",
                         .value = 8,
                         .low = 1,
                         .high = 1e6,
                         .unit = "sampled steps",
                         .meaning = "fewest steps with clipping for a finding",
                         .source = "own reasoning: all of these steps must agree"};

absl::StatusOr<Verdict> Judge(const Settings& settings, const ClippedShares& shares) {
  Verdict verdict;
  int64_t judged = 0;
  for (const ClippedShares::Optimizer& optimizer : shares.optimizers) {
    const auto count = static_cast<int64_t>(optimizer.steps.size());
    judged += count;
    const bool always = optimizer.in_part.size() == optimizer.steps.size();
    if (!always || static_cast<double>(count) < settings[kSteps]) continue;
    verdict.findings.push_back(FindingOver(
        optimizer.in_part, shares.declared == "all" ? Severity::kError : Severity::kNote,
        StrCat("In all ", Counted(count, "sampled step"),
               " with clipping, only a part of the gradients that ", optimizer.name,
               " used was clipped: ", Short(optimizer.clipped), " of ", Short(optimizer.consumed),
               " at step ", optimizer.in_part.back(), "."),
        {{.thing = optimizer.name, .file = ""}}, optimizer.clipped, optimizer.consumed));
  }
  verdict.judged = Counted(judged, "sampled step") + " with clipping";
  return verdict;
}

// The last step clips `last` of two gradients, all others one.
Evidence Clipping(double last, bool declared) {
  RunBuilder run = TwoLayers();
  if (declared) run.Process("declared.clip", "all");
  for (int step = 0; step < 10; ++step) {
    run.Quantity(Quantity::kClippedParameters, "optimizer", "optimizer#0", step == 9 ? last : 1, 2);
    AddStep(run, {.held = {}});
  }
  return PlainOnly(run);
}

}  // namespace

Check PartialClip() {
  return {
      .id = "gradients/partial_clip",
      .title = "Clipping covers only some of the parameters",
      .promise = "Clipping covers all gradients that a step uses.",
      .why =
          "Unclipped gradients keep their size, so one bad batch still moves their weights far. "
          "The bound is not the norm of the whole update.",
      .method =
          "Counts how many gradients used by each sampled step were clipped since the previous "
          "step.",
      .fix =
          "Clip the parameters of all groups and all models of the optimizer, for example with one "
          "clip_grad_norm_ call.",
      .limits = {.needs = "Eight sampled steps with clipping.",
                 .silent_when = "The step clips nothing.",
                 .severity = "Error if declared.clip is all. Otherwise a note: clipping a part of "
                             "the model may be intentional.",
                 .blind_spots = "",
                 .sensitivity = ""},
      .python = {.bad = R"(optimizer = AdamW([*encoder.parameters(), *decoder.parameters()])
loss.backward()
nn.utils.clip_grad_norm_(encoder.parameters(), 1.0)
optimizer.step())",
                 .good = R"(optimizer = AdamW([*encoder.parameters(), *decoder.parameters()])
loss.backward()
nn.utils.clip_grad_norm_([*encoder.parameters(), *decoder.parameters()], 1.0)
optimizer.step())"},
      .cpp = {.bad = R"(torch::optim::AdamW optimizer(Joined(encoder, decoder));
loss.backward();
nn::utils::clip_grad_norm_(encoder->parameters(), 1);
optimizer.step();)",
              .good = R"(torch::optim::AdamW optimizer(Joined(encoder, decoder));
loss.backward();
nn::utils::clip_grad_norm_(Joined(encoder, decoder), 1);
optimizer.step();)"},
      .sources = {"PyTorch documentation of torch.nn.utils.clip_grad_norm_", "own reasoning"},
      .covers = {"partial-clipping"},
      .explains = {"gradients/ineffective_clip"},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kClip,
      .settings = {kSteps},
      .judgement = Reads<&Judge>(),
      .examples = {{"all gradients in one of ten steps", Expect::kClean,
                    [] { return Clipping(2, true); }},
                   {"half of the gradients in every step", Expect::kNote,
                    [] { return Clipping(1, false); }},
                   {"half of the gradients, with all declared", Expect::kError,
                    [] { return Clipping(1, true); }}},
  };
}

}  // namespace dlcheck::gradients
