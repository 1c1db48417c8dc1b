#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"
#include "checks/signals/run/stated.h"

namespace dlcheck::training_loop {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kUnrelatedNoise>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    verdict.findings.push_back(
        StatementFinding(statement, Severity::kNote,
                         StrCat("The targets of ", statement.name,
                                " are standard normal noise, new in each step, and not correlated "
                                "with the input of the same shape in ",
                                statement.value, " numbers."),
                         statement.name));
  }
  return verdict;
}

Evidence With(double value, double aux, int times = 1) {
  return Stating(Quantity::kUnrelatedNoise, "loss", "mse_loss", value, aux, times);
}

}  // namespace

Check UnrelatedNoise() {
  return {
      .id = "training_loop/unrelated_noise",
      .title = "The target is noise that no input depends on",
      .promise = "A denoiser learns to predict the noise that was added to its inputs.",
      .why = "Noise that was drawn again cannot be predicted. The model learns to give zeros.",
      .method =
          "Tests in four steps whether the targets have the moments of a normal "
          "distribution. Then takes their correlation with the input.",
      .fix =
          "Draw the noise once, and use it for both: x_t = a * x + b * noise, and loss = "
          "F.mse_loss(model(x_t, t), noise).",
      .limits = {.needs =
                     "A program with mse_loss, l1_loss, smooth_l1_loss or huber_loss on targets "
                     "of the shape of an input, on the CPU or CUDA.",
                 .silent_when = "The same targets come in two steps.",
                 .severity = "Always a note: the data of a trial run may be noise.",
                 .blind_spots = "Losses that are written by hand.",
                 .sensitivity = ""},
      .python = {.bad = R"(x_t = a * x + b * torch.randn_like(x)
loss = F.mse_loss(model(x_t, t), torch.randn_like(x)))",
                 .good = R"(noise = torch.randn_like(x)
x_t = a * x + b * noise
loss = F.mse_loss(model(x_t, t), noise))"},
      .cpp = {.bad = R"(auto noisy = a * x + b * torch::randn_like(x);
auto loss = F::mse_loss(denoiser(noisy), torch::randn_like(x));)",
              .good = R"(auto noise = torch::randn_like(x);
auto noisy = a * x + b * noise;
auto loss = F::mse_loss(denoiser(noisy), noise);)"},
      .sources = {"Ho, Jain and Abbeel 2020, algorithm 1"},
      .covers = {"noise-drawn-twice"},
      .explains = {"learnability/no_better_than_constant", "training_loop/flat_loss"},
      .worst = Severity::kNote,
      .live = false,
      .stands_at = Event::kLossComputed,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"noise that was added", Expect::kClean, [] { return With(0, 0, 0); }},
                   {"other noise", Expect::kNote, [] { return With(4096, 4); }}},
  };
}

}  // namespace dlcheck::training_loop
