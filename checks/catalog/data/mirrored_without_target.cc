#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"
#include "checks/signals/run/stated.h"

namespace dlcheck::data {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kMirroredSamples>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    verdict.findings.push_back(
        StatementFinding(statement, Severity::kNote,
                         "The data set mirrors its images in some passes, while their points, "
                         "boxes or masks stay where they were."));
  }
  return verdict;
}

Evidence With(double value, double aux, int times = 1) {
  return Stating(Quantity::kMirroredSamples, "batch", "input", value, aux, times);
}

}  // namespace

Check MirroredWithoutTarget() {
  return {
      .id = "data/mirrored_without_target",
      .title = "Images are mirrored, and their targets are not",
      .promise = "Points, boxes and masks move with the image that they describe.",
      .why =
          "Half of the targets point to the wrong side. The model learns their mean, the "
          "middle of the image.",
      .method =
          "Compares eight samples with themselves in an earlier pass of their loader. Looks "
          "for mirrored images with equal targets.",
      .fix =
          "Mirror both: for points, x = width - x, and for masks, the same flip. "
          "torchvision.transforms.v2 does that for boxes and masks.",
      .limits =
          {.needs =
               "A Python program with a DataLoader without workers, images and targets that are "
               "points, boxes or masks.",
           .silent_when = "",
           .severity = "Always a note: targets of two or four numbers may be no places.",
           .blind_spots = "Images that are also cropped or rotated.",
           .sensitivity = ""},
      .python = {.bad = R"(if torch.rand(()) < 0.5:
    image = image.flip(-1)
return image, point)",
                 .good = R"(if torch.rand(()) < 0.5:
    image = image.flip(-1)
    point = torch.stack([1 - point[0], point[1]])
return image, point)"},
      .cpp = {},
      .sources = {"torchvision documentation: transforms of images with boxes and masks"},
      .covers = {"label-breaking-augmentation"},
      .explains = {"data/contradicting_targets"},
      .worst = Severity::kNote,
      .live = false,
      .stands_at = std::nullopt,
      .also_at = {Event::kFetched},
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"targets that move", Expect::kClean, [] { return With(0, 0, 0); }},
                   {"targets that stay", Expect::kNote, [] { return With(2, 0); }}},
  };
}

}  // namespace dlcheck::data
