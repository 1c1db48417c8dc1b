#include <vector>

#include "checks/catalog/examples/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/gradients/foreign_gradients.h"

namespace dlcheck::optimizer {
namespace {

constexpr Setting kSteps{.name = "steps",
                         .value = 3,
                         .low = 1,
                         .high = 1e6,
                         .unit = "steps",
                         .meaning = "fewest steps of an optimizer that are judged",
                         .source = "own reasoning: once may be a warm-up"};

constexpr double kShare = 0.9;  // of the judged steps: at first, gradients have no names yet

Finding FindingOf(const ForeignGradients::Optimizer& optimizer) {
  std::vector<Place> places{{.thing = optimizer.name, .file = ""}};
  for (const NamedSite& site : {optimizer.own, optimizer.left_at}) {
    if (site.line > 0) places.push_back({.thing = "", .file = site.file, .line = site.line});
  }
  return {
      .severity = Severity::kNote,
      .message = StrCat("In ", optimizer.foreign, " of ", Counted(optimizer.judged, "judged step"),
                        ", ", optimizer.name, " also used gradients (norm ", Short(optimizer.norm),
                        " at step ", optimizer.first_step,
                        ") that the backward before the step of ", optimizer.other, " had left."),
      .places = std::move(places),
      .first_step = optimizer.first_step,
      .last_step = optimizer.last_step,
      .count = optimizer.foreign,
      .measured = static_cast<double>(optimizer.foreign),
      .bound = 0};
}

absl::StatusOr<Verdict> Judge(const Settings& settings, const ForeignGradients& gradients) {
  Verdict verdict;
  int64_t judged = 0;
  for (const ForeignGradients::Optimizer& optimizer : gradients.optimizers) {
    judged += optimizer.judged;
    const bool enough = static_cast<double>(optimizer.judged) >= settings[kSteps];
    if (enough &&
        static_cast<double>(optimizer.foreign) >= kShare * static_cast<double>(optimizer.judged)) {
      verdict.findings.push_back(FindingOf(optimizer));
    }
  }
  verdict.judged = Counted(judged, "step");
  return verdict;
}

// Two optimizers step in turn, each after a backward of its own line. Before its own backward, the
// second one's gradient holds `held`.
Evidence InTurn(double held, int line) {
  RunBuilder run = TwoLayers();
  run.Attribute("parameter", "head.weight", "optimizer", "optimizer#1/group#0");
  for (int round = 0; round < 4; ++round) {
    for (const bool second : {false, true}) {
      const char* const weight = second ? "head.weight" : "trunk.weight";
      run.Line(second ? line : 10).Event(Event::kBackward, 0, "loss", "loss");
      run.Line(0).Quantity(Quantity::kHeldGradientNorm, "parameter", "head.weight",
                           second ? held : 0);
      run.Quantity(Quantity::kGradientNorm, "parameter", weight, 0.3);
      run.Event(Event::kStep, 0, "optimizer", second ? "optimizer#1" : "optimizer#0");
    }
  }
  return PlainOnly(run);
}

}  // namespace

Check GradientsOfAnotherLoss() {
  return {
      .id = "optimizer/gradients_of_another_loss",
      .title = "A step also uses another loss's gradients",
      .promise = "An optimizer uses the gradients of its own loss alone.",
      .why =
          "The backward for one network also reaches the other one. A generator then also learns "
          "to help the discriminator.",
      .method =
          "Compares what gradients hold before each backward. Reports an optimizer whose gradients "
          "were zero before the step of another one, and not zero after it, nearly each time.",
      .fix =
          "Detach what the other network made: discriminator(fake.detach()). Or call zero_grad() "
          "of this optimizer right before its own backward.",
      .limits = {.needs = "Two optimizers that step in turn, each after its own backward.",
                 .silent_when = "Both backward calls stand in one line.",
                 .severity = "Always a note: a program may sum the gradients of two losses.",
                 .blind_spots = "Steps that are not recorded.",
                 .sensitivity = ""},
      .python = {.bad = R"(loss_d = bce(D(real), one) + bce(D(fake), zero)
loss_d.backward()  # also fills the gradients of G
opt_d.step()
bce(D(fake), one).backward()
opt_g.step())",
                 .good = R"(loss_d = bce(D(real), one) + bce(D(fake.detach()), zero)
loss_d.backward()
opt_d.step()
bce(D(fake), one).backward()
opt_g.step())"},
      .cpp = {.bad = R"(auto loss_d = bce(D(real), one) + bce(D(fake), zero);
loss_d.backward();  // also fills the gradients of G
opt_d.step();
bce(D(fake), one).backward();
opt_g.step();)",
              .good = R"(auto loss_d = bce(D(real), one) + bce(D(fake.detach()), zero);
loss_d.backward();
opt_d.step();
bce(D(fake), one).backward();
opt_g.step();)"},
      .sources = {"PyTorch tutorial on DCGAN: detach() in the step of the discriminator"},
      .covers = {"wrong-network-stepped"},
      .explains = {},
      .worst = Severity::kNote,
      .live = false,
      .stands_at = Event::kBackward,
      .settings = {kSteps},
      .judgement = Reads<&Judge>(),
      .examples = {{"gradients of its own loss", Expect::kClean, [] { return InTurn(0, 20); }},
                   {"gradients of another loss", Expect::kNote, [] { return InTurn(0.7, 20); }},
                   {"accumulation in one line", Expect::kClean, [] { return InTurn(0.7, 10); }}},
  };
}

}  // namespace dlcheck::optimizer
