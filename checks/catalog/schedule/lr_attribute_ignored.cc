#include "checks/catalog/examples/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/optimizer/optimizers.h"

namespace dlcheck::schedule {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&, const Optimizers& optimizers) {
  const auto count = static_cast<int64_t>(optimizers.optimizers.size());
  Verdict verdict{.findings = {}, .judged = Counted(count, "optimizer")};
  for (const auto& [ordinal, optimizer] : optimizers.optimizers) {
    if (optimizer.rate_beside.empty()) continue;
    verdict.findings.push_back(
        {.severity = Severity::kWarning,
         .message = StrCat("The program set the learning rate in ", optimizer.rate_place,
                           ", last to ", optimizer.rate_beside,
                           ", but no step reads it there: the parameter "
                           "groups kept other learning rates."),
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
      .title = "A learning rate is set where nothing reads it",
      .promise = "The optimizer reads every learning rate that the program sets.",
      .why = "The optimizer continues with the old learning rate, and PyTorch raises no error.",
      .method =
          "Looks for a rate that is set where no step reads it. In Python, this is the attribute "
          "`lr` of an optimizer of torch.optim. In C++, it is defaults() or a copy of the options. "
          "The value differs from the learning rate of every group when a step is taken.",
      .fix =
          "Delete the assignment if a scheduler sets the learning rate. Otherwise set it in the "
          "groups: for group in optimizer.param_groups: group['lr'] = lr.",
      .limits = {.needs = "An optimizer class of torch.optim itself.",
                 .silent_when = "",
                 .severity = "",
                 .blind_spots = "In Python, only the attribute name `lr` is checked.",
                 .sensitivity = ""},
      .python = {.bad = R"(if epoch == 30:
    optimizer.lr = 1e-4  # a new attribute that nothing reads
train_one_epoch(model, optimizer, loader))",
                 .good = R"(if epoch == 30:
    for group in optimizer.param_groups:
        group["lr"] = 1e-4
train_one_epoch(model, optimizer, loader))"},
      .cpp = {.bad = R"(optimizer.defaults().set_lr(1e-4);  // for groups that are added later
TrainOneEpoch(model, *loader, optimizer);)",
              .good = R"(for (auto& group : optimizer.param_groups()) group.options().set_lr(1e-4);
TrainOneEpoch(model, *loader, optimizer);)"},
      .sources = {"PyTorch documentation of torch.optim: per-parameter options"},
      .covers = {"wrong-scheduler-interval"},
      .explains = {},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kStep,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"no attribute is set", Expect::kClean, [] { return SetBeside(""); }},
                   {"an attribute that differs from every group", Expect::kWarning,
                    [] { return SetBeside("0.05"); }}},
  };
}

}  // namespace dlcheck::schedule
