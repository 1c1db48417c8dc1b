#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/run/stated.h"

namespace dlcheck::training_loop {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kWrongTimeStep>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    verdict.findings.push_back(StatementFinding(
        statement, Severity::kNote,
        StrCat("The share of noise in ", Counted(static_cast<int64_t>(statement.value), "sample"),
               " of a batch follows from no number that the model is given for each. The ranks "
               "correlate by ",
               Short(statement.aux), " at most.")));
  }
  return verdict;
}

Evidence With(double value, int times = 1) {
  return Stating(Quantity::kWrongTimeStep, "loss", "mse_loss", value, 0.07, times);
}

}  // namespace

Check WrongTimeStep() {
  return {
      .id = "training_loop/wrong_time_step",
      .title = "The model is given another time step",
      .promise = "The time step that a diffusion model is given says how much noise its input has.",
      .why = "The model has to guess how much noise there is. Samples come out blurred.",
      .method =
          "Solves for the factor of the noise in each sample. Compares its ranks with those of "
          "each input that has one number for a sample.",
      .fix = "Draw the time step once. Use the same tensor for the noise and for the model.",
      .limits = {.needs = "A Python program whose loss has the noise as its target. The data are a "
                          "tensor of the same shape, with at least 16 numbers in a sample.",
                 .silent_when = "The ranks of any input and of the noise correlate by 0.5 or more.",
                 .severity = "Always a note: a model may be meant to work without the time step.",
                 .blind_spots =
                     "Models that predict the data or a velocity, and a step that is wrong by one.",
                 .sensitivity = ""},
      .python = {.bad = R"(t = torch.randint(0, steps, (len(x0),))
noisy = add_noise(x0, noise, t)
t = torch.randint(0, steps, (len(x0),))
loss = F.mse_loss(model(noisy, t), noise))",
                 .good = R"(t = torch.randint(0, steps, (len(x0),))
noisy = add_noise(x0, noise, t)
loss = F.mse_loss(model(noisy, t), noise))"},
      .cpp = {},
      .sources = {"Ho et al. 2020 (DDPM), algorithm 1"},
      .covers = {"wrong-time-step"},
      .explains = {},
      .worst = Severity::kNote,
      .live = false,
      .stands_at = std::nullopt,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"a step that fits", Expect::kClean, [] { return With(64, 0); }},
                   {"another step", Expect::kNote, [] { return With(64); }}},
  };
}

}  // namespace dlcheck::training_loop
