#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"
#include "checks/signals/run/stated.h"

namespace dlcheck::data {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kMadeClasses>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    verdict.findings.push_back(
        StatementFinding(statement, Severity::kError,
                         StrCat("F.interpolate averages class numbers: ", statement.value,
                                " positions of a target of ", statement.name, " hold class ",
                                statement.aux, " or another one that its mask does not have."),
                         statement.name));
  }
  return verdict;
}

Evidence With(double value, double aux, int times = 1) {
  return Stating(Quantity::kMadeClasses, "loss", "cross_entropy", value, aux, times);
}

}  // namespace

Check InterpolatedClasses() {
  return {
      .id = "data/interpolated_classes",
      .title = "Resizing makes up classes of a mask",
      .promise = "Each class of a resized mask is a class of the mask.",
      .why =
          "The average of classes 1 and 3 is 2, which is another class. The model learns "
          "such classes at all borders.",
      .method =
          "Keeps digests of masks that F.interpolate averaged and that were made integer. "
          "Looks for them among the targets of cross_entropy and nll_loss.",
      .fix =
          "Resize masks with the mode nearest or nearest-exact. Only images are "
          "interpolated.",
      .limits = {.needs = "A program that resizes masks with F.interpolate in its main process, on "
                          "the CPU or CUDA.",
                 .silent_when = "A mask has more than 32 classes, as a picture has brightnesses.",
                 .severity = "Always an error.",
                 .blind_spots =
                     "Masks that other libraries resize, and averages that make up no class.",
                 .sensitivity = ""},
      .python = {.bad = R"(mask = F.interpolate(mask[:, None].float(), size, mode="bilinear")
loss = F.cross_entropy(logits, mask[:, 0].long()))",
                 .good = R"(mask = F.interpolate(mask[:, None].float(), size, mode="nearest")
loss = F.cross_entropy(logits, mask[:, 0].long()))"},
      .cpp = {.bad =
                  R"(auto options = F::InterpolateFuncOptions().size(shape).mode(torch::kBilinear);
auto classes = F::interpolate(mask, options).squeeze(1).to(torch::kLong);
auto loss = F::cross_entropy(logits, classes);)",
              .good =
                  R"(auto options = F::InterpolateFuncOptions().size(shape).mode(torch::kNearest);
auto classes = F::interpolate(mask, options).squeeze(1).to(torch::kLong);
auto loss = F::cross_entropy(logits, classes);)"},
      .sources = {"PyTorch documentation of torch.nn.functional.interpolate"},
      .covers = {"interpolated-class-masks"},
      .explains = {"data/unused_class"},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kBackward,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"no such mask", Expect::kClean, [] { return With(0, 0, 0); }},
                   {"classes between others", Expect::kError, [] { return With(31, 2); }}},
  };
}

}  // namespace dlcheck::data
