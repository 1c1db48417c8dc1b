#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/run/stated.h"

namespace dlcheck::data {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kMisalignedMasks>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    verdict.findings.push_back(
        StatementFinding(statement, Severity::kNote,
                         StrCat(Short(statement.value), " of ", Short(statement.aux),
                                " masks fit their image only after they are mirrored or turned, "
                                "and the others as they are."),
                         statement.name));
  }
  return verdict;
}

Evidence With(double value, double aux, int times = 1) {
  return Stating(Quantity::kMisalignedMasks, "loss", "cross_entropy", value, aux, times);
}

}  // namespace

Check MisalignedMasks() {
  return {
      .id = "data/misaligned_masks",
      .title = "Masks are mirrored in another way than images",
      .promise = "A mask is mirrored and turned with its image.",
      .why = "The model learns masks that do not belong to their images.",
      .method =
          "Correlates masks with their images, as they are and after each mirroring and rotation. "
          "Reports masks of which a part fits in another way than the rest.",
      .fix = "Give image and mask the same transform with the same random numbers.",
      .limits = {.needs = "A program with masks that are as bright or as dark as their object.",
                 .silent_when =
                     "More than one other way fits, or images and masks are not correlated.",
                 .severity = "Always a note: an object may look like the mirror image of another.",
                 .blind_spots =
                     "Hand-written losses, and masks that are all turned in the same way.",
                 .sensitivity = ""},
      .python = {.bad = R"(image, mask = image.flip(-2), mask.flip(-1))",
                 .good = R"(image, mask = image.flip(-2), mask.flip(-2))"},
      .cpp = {.bad = R"(image = image.flip(-2);
mask = mask.flip(-1);)",
              .good = R"(image = image.flip(-2);
mask = mask.flip(-2);)"},
      .sources = {"torchvision documentation: transforms of images with masks"},
      .covers = {"label-breaking-augmentation"},
      .explains = {},
      .worst = Severity::kNote,
      .live = false,
      .stands_at = Event::kLossComputed,
      .also_at = {Event::kFetched},
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"all as they are", Expect::kClean, [] { return With(30, 64, 0); }},
                   {"half in another way", Expect::kNote, [] { return With(30, 64); }}},
  };
}

}  // namespace dlcheck::data
