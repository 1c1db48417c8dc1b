#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"
#include "checks/signals/run/stated.h"

namespace dlcheck::model {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kRepeatedLayer>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    verdict.findings.push_back(StatementFinding(
        statement, Severity::kNote,
        StrCat(statement.name.empty() ? "The model" : statement.name, " holds ", statement.value,
               " layers, which are ", Counted(static_cast<int64_t>(statement.aux), "object"), "."),
        statement.name));
  }
  return verdict;
}

Evidence With(double value, double aux, int times = 1) {
  return Stating(Quantity::kRepeatedLayer, "module", "blocks", value, aux, times);
}

}  // namespace

Check RepeatedLayer() {
  return {
      .id = "model/repeated_layer",
      .title = "A container holds one layer several times",
      .promise = "The layers of a list or sequence are different objects.",
      .why =
          "[layer] * n and nn.Sequential(layer, layer) hold one layer n times. The model has "
          "one set of weights where n were meant.",
      .method =
          "Compares the objects in each ModuleList and Sequential when the model is first "
          "called.",
      .fix = "Build a new layer for each place: nn.ModuleList([Block() for _ in range(n)]).",
      .limits = {.needs = "A program with an optimizer step.",
                 .silent_when = "The layer has no parameters, as an activation.",
                 .severity = "Always a note: weights may be shared on purpose.",
                 .blind_spots = "Lists of Python, and one layer that forward() calls several "
                                "times.",
                 .sensitivity = ""},
      .python = {.bad = R"(block = Block(64)
self.blocks = nn.ModuleList([block] * 6))",
                 .good = R"(self.blocks = nn.ModuleList(
    [Block(64) for _ in range(6)]))"},
      .cpp = {.bad = R"(Block block(64);
for (int i = 0; i < 6; ++i) blocks->push_back(block);)",
              .good = "for (int i = 0; i < 6; ++i) blocks->push_back(Block(64));"},
      .sources = {"own reasoning: a list of one object has one object"},
      .covers = {"repeated-module-object"},
      .explains = {},
      .worst = Severity::kNote,
      .live = false,
      .stands_at = Event::kModuleBuilt,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"different layers", Expect::kClean, [] { return With(0, 0, 0); }},
                   {"one layer six times", Expect::kNote, [] { return With(6, 1); }}},
  };
}

}  // namespace dlcheck::model
