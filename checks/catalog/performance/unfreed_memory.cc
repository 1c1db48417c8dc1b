#include <algorithm>

#include "checks/engine/evidence.h"
#include "checks/engine/reads.h"
#include "checks/engine/run_builder.h"
#include "checks/engine/text.h"
#include "checks/signals/run/memory_by_line.h"

namespace dlcheck::performance {
namespace {

constexpr Setting kParts{.name = "parts",
                         .value = 0.85,
                         .low = 0.5,
                         .high = 1,
                         .unit = "1",
                         .meaning = "smallest share of the parts of the history that add memory",
                         .source = "own reasoning: a step adds and frees within one part"};
constexpr Setting kMore{.name = "more",
                        .value = 16,
                        .low = 0,
                        .high = 1e9,
                        .unit = "MiB",
                        .meaning = "smallest growth over the last three quarters",
                        .source = "own reasoning"};
constexpr Setting kShare{.name = "share",
                         .value = 0.1,
                         .low = 0,
                         .high = 1,
                         .unit = "1",
                         .meaning = "smallest share of all memory that the growth is",
                         .source = "own reasoning"};
constexpr size_t kFewest = 10;  // parts

double ShareThatGrow(const std::vector<double>& held) {
  double grow = 0;
  for (size_t i = 1; i < held.size(); ++i) grow += held[i] > held[i - 1] ? 1 : 0;
  return grow / static_cast<double>(held.size() - 1);
}

absl::StatusOr<Verdict> Judge(const Settings& settings, const MemoryByLine& memory) {
  Verdict verdict{.findings = {},
                  .judged = Counted(static_cast<int64_t>(memory.lines.size()), "line")};
  for (const MemoryByLine::Line& line : memory.lines) {
    const std::vector<double>& held = line.held;
    if (held.size() < kFewest) continue;
    const double more = held.back() - held[held.size() / 4];
    if (more < settings[kMore] || more < settings[kShare] * memory.total) continue;
    const double share = ShareThatGrow(held);
    if (share < settings[kParts]) continue;
    verdict.findings.push_back(
        {.severity = Severity::kNote,
         .message = StrCat("Memory allocated at ", line.name, " grew from ",
                           Short(held[held.size() / 4]), " to ", Short(held.back()),
                           " MiB over the last three quarters of the history, and was not freed."),
         .places = {{.thing = line.name, .file = ""}},
         .first_step = static_cast<int64_t>(held.size() / 4),
         .last_step = static_cast<int64_t>(held.size()) - 1,
         .count = static_cast<int64_t>(held.size()),
         .measured = more,
         .bound = settings[kMore]});
  }
  return verdict;
}

// Twenty parts of a history, each of which adds so many MiB at one line of two.
Evidence Growing(double more) {
  RunBuilder run;
  run.Process("log", "memory snapshot");
  for (int part = 0; part < 20; ++part) {
    run.Quantity(Quantity::kMetric, "metric", "memory of train.py:7", 100);
    run.Quantity(Quantity::kMetric, "metric", "memory of train.py:9", 10 + more * part);
    run.Event(Event::kStep, 0, "optimizer", "");
  }
  Evidence evidence;
  evidence.Add(kPlain, run.Build());
  return evidence;
}

}  // namespace

Check UnfreedMemory() {
  return {
      .id = "performance/unfreed_memory",
      .title = "Memory of one line is never freed",
      .promise = "The memory that a line allocates is freed again.",
      .why = "The program runs out of memory after more steps.",
      .method =
          "Divides the history of a memory snapshot into 20 parts. Adds up what each line holds "
          "after each part. Reports a line that holds more after nearly each.",
      .fix =
          "Look at what keeps the tensors of this line: a list, a closure, or a loss with its "
          "graph. Keep loss.item() or loss.detach() instead.",
      .limits = {.needs = "A memory snapshot of PyTorch with a history, for `dlcheck judge`.",
                 .silent_when = "The line adds less than 16 MiB or a tenth of all memory.",
                 .severity = "Always a note: a history of a single step looks the same.",
                 .blind_spots = "Memory that was allocated before the history began.",
                 .sensitivity = ""},
      .python = {.bad = R"(losses.append(loss))", .good = R"(losses.append(loss.item()))"},
      .cpp = {},
      .sources = {"own reasoning"},
      .covers = {"graph-kept-alive"},
      .explains = {},
      .worst = Severity::kNote,
      .live = false,
      .stands_at = Event::kStep,
      .settings = {kParts, kMore, kShare},
      .judgement = Reads<&Judge>(),
      .examples = {{"memory that stays", Expect::kClean, [] { return Growing(0); }},
                   {"a little more in each part", Expect::kClean, [] { return Growing(0.5); }},
                   {"more in each part", Expect::kNote, [] { return Growing(8); }}},
  };
}

}  // namespace dlcheck::performance
