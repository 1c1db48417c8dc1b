#include "checks/catalog/examples/file_runs.h"

#include "checks/catalog/examples/example_runs.h"
#include "checks/engine/text.h"

namespace dlcheck {
namespace {

void Load(RunBuilder& run, std::string_view file, const FileValues& values) {
  run.Attribute("file", file, "contents", values.contents);
  run.Event(Event::kLoaded, 0, "file", file).Event(Event::kLoaded, 0, "model", "Net");
  if (values.elsewhere) {
    run.Attribute("model", "Net", "restored_elsewhere", "1");
  } else if (values.fed.empty()) {
    run.Quantity(Quantity::kLoadedShare, "model", "Net", values.share);
  }
  if (values.puts_in_optimizer) run.Event(Event::kLoaded, 0, "optimizer", "optimizer#0");
}

}  // namespace

Evidence WithFiles(const FileValues& values) {
  RunBuilder run = TwoLayers();
  run.Attribute("optimizer", "optimizer#0", "stateful", values.keeps_state ? "1" : "0");
  if (values.loads) Load(run, "old.pt", values);
  if (values.beside) {
    run.Attribute("file", "runs/moments.pt", "contents", "optimizer");
    run.Event(Event::kSaved, 0, "file", "runs/moments.pt");
  }
  for (int step = 0; step < 4; ++step) {
    if (!values.fed.empty()) run.Event(Event::kUsed, 32, "model", values.fed);
    AddStep(run, {.held = {}});
    if (values.scheduler_moves) run.Event(Event::kSchedule, 0.1, "optimizer", "optimizer#0");
    if (values.saves_over || values.saves_numbered) {
      const std::string file = values.saves_over ? "runs/last.pt" : StrCat("runs/", step, ".pt");
      run.Attribute("file", file, "contents", values.contents);
      run.Event(Event::kSaved, 0, "file", file);
      if (step == 1 && values.loads_back) Load(run, file, values);
    }
  }
  return PlainOnly(run);
}

Evidence WithPair(const PairValues& values) {
  RunBuilder run = TwoLayers();
  run.Attribute("optimizer", "optimizer#0", "stateful", "1");
  run.Attribute("file", "net.pt", "contents", "model");
  run.Attribute("file", "moments.pt", "contents", "optimizer");
  if (values.trains_before) {
    run.Event(Event::kUsed, 32, "model", "Net");
    AddStep(run, {.held = {}});
  }
  if (values.reads_model) {
    run.Event(Event::kLoaded, 0, "file", "net.pt").Event(Event::kLoaded, 0, "model", "Net");
    run.Quantity(Quantity::kLoadedShare, "model", "Net", 1);
  }
  if (values.reads_optimizer) {
    run.Event(Event::kLoaded, 0, "file", "moments.pt");
    run.Event(Event::kLoaded, 0, "optimizer", "optimizer#0");
  }
  for (int step = 0; step < 4; ++step) {
    run.Event(Event::kUsed, 32, "model", "Net");
    AddStep(run, {.held = {}});
    run.Event(Event::kSaved, 0, "file", "net.pt");
    if (values.is_pair || step == 3) run.Event(Event::kSaved, 0, "file", "moments.pt");
  }
  return PlainOnly(run);
}

}  // namespace dlcheck
