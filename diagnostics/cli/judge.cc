// `dlcheck judge DIR`: judges records that are there already, of `dlcheck run` or of any probe.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>

#include "absl/time/clock.h"
#include "checks/engine/clock.h"
#include "checks/engine/status.h"
#include "checks/engine/text.h"
#include "checks/engine/trace_reader.h"
#include "checks/records/names.h"
#include "checks/records/visible.h"
#include "diagnostics/cli/commands.h"
#include "diagnostics/cli/config/choice.h"
#include "diagnostics/cli/exported.h"
#include "diagnostics/cli/log_reader.h"
#include "diagnostics/cli/output_folder.h"
#include "diagnostics/cli/verdict.h"

namespace dlcheck::cli {
namespace {

absl::StatusOr<Evidence> ReadEvidence(const OutputFolder& folder, const Declarations& declared) {
  Evidence evidence;
  DLCHECK_ASSIGN_OR_RETURN(const std::vector<std::string> runs, folder.Runs());
  for (const std::string& run_folder : runs) {
    absl::StatusOr<RecordedRun> recorded = ReadRecordedRun(run_folder);
    // dlcheck was killed between making the folder of an experiment and beginning it.
    if (absl::IsNotFound(recorded.status()) && run_folder != runs.front()) continue;
    if (!recorded.ok()) return recorded.status();
    SetDeclared(declared, recorded->run.trace);
    evidence.Add(recorded->experiment, std::move(recorded->run));
  }
  if (evidence.runs().empty()) {
    return absl::InvalidArgumentError(folder.path() + " holds no run with records");
  }
  return evidence;
}

// Checks that need nothing but the numbers which programs log.
constexpr std::string_view kLogChecks[] = {
    "evaluation/better_than_training", "evaluation/rising_loss",    "numerics/nonfinite_values",
    "performance/idle_accelerator",    "performance/step_stalls",   "performance/step_time_growth",
    "schedule/decays_too_early",       "schedule/lr_is_zero",       "training_loop/plateaued_loss",
    "training_loop/diverging_loss",    "training_loop/flat_loss",   "training_loop/loss_spike",
    "training_loop/oscillating_loss",  "performance/unfreed_memory"};

int64_t NumbersIn(const Log& log) {
  return std::ranges::count_if(log.rows,
                               [](const LogRow& row) { return RoleOf(row.name) != Role::kTime; });
}

// Of a trace: the kernels, or operators, that take most time, with the mean of their shares. Of a
// memory snapshot: the lines that hold most memory at its end.
std::string LargestParts(const Log& log) {
  constexpr size_t kShown = 4;
  const bool is_memory = log.kind == kMemorySnapshot;
  const std::string_view prefix = is_memory ? kMemoryOf : "share of ";
  std::map<std::string, std::pair<double, int>> sums;
  for (const LogRow& row : log.rows) {
    if (!row.name.starts_with(prefix)) continue;
    auto& [sum, count] = sums[row.name.substr(prefix.size())];
    sum = is_memory ? row.value : sum + 100 * row.value;
    count = is_memory ? 1 : count + 1;
  }
  std::vector<std::pair<double, std::string>> parts;
  for (const auto& [name, sum] : sums) parts.emplace_back(sum.first / sum.second, name);
  std::ranges::sort(parts, std::greater<>());
  if (parts.size() > kShown) parts.resize(kShown);
  std::string text = is_memory ? "most memory:" : "most time:";
  for (const auto& [size, name] : parts) {
    StrAppend(&text, text.back() == ':' ? " " : ", ", name, " ", Short(size),
              is_memory ? " MiB" : " %");
  }
  return text;
}

int JudgeLog(Choice choice, const std::string& path, const std::vector<Export>& exports) {
  const absl::StatusOr<Log> log = LogAt(path);
  if (!log.ok()) return Refuse(log.status());
  const auto is_loss = [](const LogRow& row) { return RoleOf(row.name) == Role::kTrainingLoss; };
  const bool is_trace = log->kind == kProfilerTrace || log->kind == kMemorySnapshot;
  if (!is_trace && std::ranges::none_of(log->rows, is_loss)) {
    std::set<std::string> names;
    for (const LogRow& row : log->rows) names.insert(row.name);
    return Refuse(absl::InvalidArgumentError(StrCat("'", path, "' names no training loss, but ",
                                                    Listed({names.begin(), names.end()}, 8))));
  }
  std::erase_if(choice.checks, [](const Check* check) {
    return std::ranges::find(kLogChecks, check->id) == std::end(kLogChecks);
  });
  if (choice.checks.empty()) {
    return Refuse(absl::InvalidArgumentError("none of the selected checks can judge a log"));
  }
  std::fprintf(stderr, "dlcheck  %s: %s, %s\n", Visible(path).c_str(), log->kind.c_str(),
               Counted(NumbersIn(*log), "number").c_str());
  if (is_trace) std::fprintf(stderr, "dlcheck  %s\n", Visible(LargestParts(*log)).c_str());
  for (const std::string& flaw : log->flaws) {
    std::fprintf(stderr, "dlcheck  %s: %s\n", Visible(path).c_str(), Visible(flaw).c_str());
  }
  Evidence evidence;
  evidence.Add(kPlain, RunOf(*log));
  if (const absl::Status done = WriteExports(exports, *evidence.RunOf(kPlain)); !done.ok()) {
    return Refuse(done);
  }
  return Deliver(
      JudgeAs(choice, evidence), evidence, choice, nullptr,
      {.command = {}, .started = absl::Now(), .began = MonotonicNow(), .write_result = false});
}

bool IsOurs(const std::string& path) {
  std::error_code unknown;
  return std::filesystem::is_directory(path + "/runs", unknown) ||
         std::filesystem::exists(path + "/result.json", unknown);
}

}  // namespace

int JudgeMain(const Words& words) {
  Options options;
  std::string path;
  std::vector<std::string> texts;
  CommandLine line(
      "judge [OPTIONS] PATH",
      "Judges the records of an earlier run again, or the log that another tool wrote.");
  AddSharedOptions(line, options);
  line.Value("PATH", "PATH", &path, "an output folder of dlcheck run, or a log of another tool",
             {.required = true});
  line.Value("--export", "FORMAT=PATH", &texts,
             "also write csv=FILE, tensorboard=FOLDER or mlflow=FOLDER");
  if (const auto code = line.Parse(words)) return *code;
  const absl::StatusOr<Choice> choice = Resolve(options);
  if (!choice.ok()) return Refuse(choice.status());
  const absl::StatusOr<std::vector<Export>> exports = ExportsFrom(texts);
  if (!exports.ok()) return Refuse(exports.status());
  if (!IsOurs(path)) return JudgeLog(*choice, path, *exports);
  const absl::StatusOr<OutputFolder> folder = OutputFolder::Open(path);
  if (!folder.ok()) return Refuse(folder.status());
  const absl::StatusOr<Evidence> evidence = ReadEvidence(*folder, choice->declared);
  if (!evidence.ok()) return Refuse(evidence.status());
  if (const Run* run = evidence->RunOf(kPlain)) {
    if (const absl::Status done = WriteExports(*exports, *run); !done.ok()) return Refuse(done);
  }
  return Deliver(
      JudgeAs(*choice, *evidence), *evidence, *choice, &*folder,
      {.command = {}, .started = absl::Now(), .began = MonotonicNow(), .write_result = false});
}

}  // namespace dlcheck::cli
