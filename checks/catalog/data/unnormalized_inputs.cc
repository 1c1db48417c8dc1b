#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"

namespace dlcheck::data {
namespace {

constexpr Setting kNoted{.name = "noted",
                         .value = 30,
                         .low = 0,
                         .high = 1e9,
                         .unit = "1",
                         .meaning = "smallest root mean square of the inputs for a note",
                         .source = "own reasoning: normalized inputs have about 1"};
constexpr Setting kWarned{.name = "warned",
                          .value = 300,
                          .low = 0,
                          .high = 1e9,
                          .unit = "1",
                          .meaning = "smallest root mean square of the inputs for a warning",
                          .source = "own reasoning: raw images have about 140"};

absl::StatusOr<Verdict> Judge(const Settings& settings,
                              const Stated<Quantity::kInputScale>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    if (statement.value < settings[kNoted]) continue;
    Finding finding = StatementFinding(
        statement, statement.value < settings[kWarned] ? Severity::kNote : Severity::kWarning,
        StrCat("The inputs of layer ", statement.name, " have a root mean square of ",
               Short(statement.value), "."),
        statement.name);
    finding.bound = settings[kNoted];
    verdict.findings.push_back(std::move(finding));
  }
  return verdict;
}

Evidence With(double scale) { return Stating(Quantity::kInputScale, "module", "fc1", scale); }

}  // namespace

Check UnnormalizedInputs() {
  return {
      .id = "data/unnormalized_inputs",
      .title = "The inputs are not normalized",
      .promise = "The numbers that a model is given are of about one size.",
      .why =
          "Layers are initialized for inputs of about size 1. Large inputs give large outputs and "
          "gradients, and saturate what has limits.",
      .method =
          "Takes the root mean square of what the first linear, convolution or recurrent layer of "
          "a model is given in training.",
      .fix = "Subtract the mean of the training data and divide by its standard deviation.",
      .limits = {.needs = "Inputs of fractions.",
                 .silent_when = "The root mean square is below 30, as behind a normalization "
                                "layer.",
                 .severity = "Note from 30 on, warning from 300 on.",
                 .blind_spots = "Inputs that are too small, and single columns among many.",
                 .sensitivity = ""},
      .python = {.bad = R"(for x, y in loader:  # x: 0 to 255, or dollars
    loss = criterion(model(x), y))",
                 .good = R"(for x, y in loader:
    loss = criterion(model((x - mean) / std), y))"},
      .cpp = {.bad = R"(auto loss = criterion(model->forward(x), y);  // x: 0 to 255, or dollars)",
              .good = "auto loss = criterion(model->forward((x - mean) / deviation), y);"},
      .sources = {"LeCun et al. 1998: Efficient BackProp, section 4.3"},
      .covers = {"unnormalized-inputs"},
      .explains = {"gradients/always_clipped", "gradients/exploding",
                   "initialization/wrong_initial_loss", "learnability/input_independence",
                   "learnability/no_better_than_constant", "optimizer/lr_too_large"},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kModuleBuilt,
      .also_at = {Event::kUsed},
      .settings = {kNoted, kWarned},
      .judgement = Reads<&Judge>(),
      .examples = {{"normalized inputs", Expect::kClean, [] { return With(1.1); }},
                   {"raw images", Expect::kNote, [] { return With(140); }},
                   {"inputs of thousands", Expect::kWarning, [] { return With(2000); }}},
  };
}

}  // namespace dlcheck::data
