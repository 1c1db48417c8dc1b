#include "checks/catalog/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/optimizers.h"

namespace dlcheck::schedule {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&, const Optimizers& optimizers) {
  const auto count = static_cast<int64_t>(optimizers.optimizers.size());
  Verdict verdict{.findings = {}, .judged = Counted(count, "optimizer")};
  for (const auto& [ordinal, optimizer] : optimizers.optimizers) {
    if (optimizer.rate_beside.empty()) continue;
    verdict.findings.push_back(
        {.severity = Severity::kWarning,
         .message =
             StrCat("The program sets ", optimizer.name, ".lr, at last to ", optimizer.rate_beside,
                    ", which nothing reads: its groups go on with a rate of their own."),
         .places = {{.thing = optimizer.name, .file = ""}},
         .first_step = 0,
         .last_step = 0,
         .count = 1,
         .measured = 1,
         .bound = 0});
  }
  return verdict;
}

Evidence SetBeside(std::string_view rate) {
  RunBuilder run = TwoLayers();
  if (!rate.empty()) run.Attribute("optimizer", "optimizer#0", "rate_beside", rate);
  for (int step = 0; step < 8; ++step) AddStep(run, {.held = {}});
  return PlainOnly(run);
}

}  // namespace

Check LrAttributeIgnored() {
  return {
      .id = "schedule/lr_attribute_ignored",
      .promise = "A learning rate that the program sets is one that the optimizer reads.",
      .why = "The optimizer goes on with the old rate, and nothing says so.",
      .method =
          "An attribute `lr` on an optimizer of torch.optim, which none of them has or reads, "
          "unlike the rate of every group as a step is taken.",
      .fix =
          "Delete it where a scheduler has the rate already; else write to the groups: for group "
          "in "
          "optimizer.param_groups: group['lr'] = rate.",
      .limits = "Only the name `lr` is looked for, and only on the classes of torch.optim itself.",
      .sources = {"PyTorch documentation of torch.optim: per-parameter options"},
      .covers = {"S01"},
      .explains = {},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kStep,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"none is set", Expect::kClean, [] { return SetBeside(""); }},
                   {"one that no group has", Expect::kFaulty, [] { return SetBeside("0.05"); }}},
  };
}

}  // namespace dlcheck::schedule
