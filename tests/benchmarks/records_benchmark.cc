// What recording and judging cost a record. Run it by itself: build/tests/records_benchmark
#include <benchmark/benchmark.h>

#include "checks/catalog/catalog.h"
#include "checks/engine/runner.h"
#include "checks/engine/trace_reader.h"
#include "checks/records/trace_writer.h"
#include "tests/temporary_folder.h"

namespace dlcheck {
namespace {

constexpr int64_t kParameters = 100;

void PutStep(TraceWriter& writer, int64_t step) {
  Record fields{};
  fields.step = step;
  for (int64_t i = 0; i < kParameters; ++i) {
    fields.thing = static_cast<uint32_t>(i + 1);
    fields.value = 0.1;
    writer.PutQuantity(Quantity::kGradientNorm, fields);
  }
  writer.PutEvent(Event::kStep, fields);
}

void Recording(benchmark::State& state) {
  const TemporaryFolder folder;
  auto writer = TraceWriter::Create({.run_folder = folder.path(), .size_cap_bytes = 1 << 30});
  int64_t step = 0;
  for (auto _ : state) PutStep(**writer, step++);
  state.SetItemsProcessed(state.iterations() * (kParameters + 1));
}
// A fixed number, so that the file stays below its cap.
BENCHMARK(Recording)->Iterations(100000);

void Judging(benchmark::State& state) {
  const TemporaryFolder folder;
  {
    auto writer = TraceWriter::Create({.run_folder = folder.path()});
    for (int64_t i = 0; i < kParameters; ++i) {
      (*writer)->Thing("parameter", 0, "layer" + std::to_string(i) + ".weight");
    }
    for (int64_t step = 0; step < state.range(0); ++step) PutStep(**writer, step);
  }
  std::vector<const Check*> checks = *SelectChecks({}, {});
  for (auto _ : state) {
    Evidence evidence;
    evidence.Add(kPlain, ReadRecordedRun(folder.path())->run);
    benchmark::DoNotOptimize(JudgeAll(evidence, checks, {}));
  }
  state.SetItemsProcessed(state.iterations() * state.range(0) * (kParameters + 1));
}
BENCHMARK(Judging)->Arg(100)->Arg(1000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace dlcheck

BENCHMARK_MAIN();
