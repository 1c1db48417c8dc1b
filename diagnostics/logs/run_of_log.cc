#include <algorithm>
#include <map>
#include <set>

#include "absl/strings/ascii.h"
#include "diagnostics/logs/log.h"

namespace dlcheck {
namespace {

// "train/loss_step" gives train, loss, step.
std::set<std::string> WordsOf(const std::string& name) {
  std::set<std::string> words;
  std::string word;
  for (const char c : name + " ") {
    if (absl::ascii_isalnum(static_cast<unsigned char>(c))) {
      word += absl::ascii_tolower(static_cast<unsigned char>(c));
    } else if (!word.empty()) {
      words.insert(std::move(word));
      word.clear();
    }
  }
  return words;
}

bool HasOneOf(const std::set<std::string>& words, std::initializer_list<const char*> some) {
  return std::ranges::any_of(some, [&words](const char* word) { return words.contains(word); });
}

// Seconds a step between one row of a log with a time and the next.
using Times = std::map<int64_t, double>;  // by step; the first of each

void AddStepTimes(const Times& times, const std::set<int64_t>& evaluated, Trace& trace,
                  uint64_t& order) {
  const auto falls = [](const auto& one, const auto& next) { return next.second < one.second; };
  if (std::ranges::adjacent_find(times, falls) != times.end()) return;  // durations, or two clocks
  const ThingId process = trace.AddThing("process", 0, "log");
  for (auto at = times.begin(); at != times.end() && std::next(at) != times.end(); ++at) {
    const auto next = std::next(at);
    const auto between = evaluated.lower_bound(at->first);
    if (between != evaluated.end() && *between < next->first) continue;
    const double seconds =
        (next->second - at->second) / static_cast<double>(next->first - at->first);
    trace.AddSample(Quantity::kStepTime, process,
                    {.step = next->first, .order = order++, .value = seconds});
  }
}

// Of several training losses, the one that stands for all: a total, then one by step.
int RankOf(const std::string& name) {
  const std::set<std::string> words = WordsOf(name);
  const bool is_mean = words.contains("epoch");
  const bool is_plain = words.size() <= 2 || (words.size() == 3 && words.contains("step"));
  return (is_plain ? 2 : 0) + (words.contains("total") ? 2 : 0) - (is_mean ? 1 : 0);
}

std::string MainLossOf(const Log& log) {
  std::string best;
  for (const LogRow& row : log.rows) {
    if (row.name == best || RoleOf(row.name) != Role::kTrainingLoss) continue;
    if (best.empty() || RankOf(row.name) > RankOf(best)) best = row.name;
  }
  return best;
}

}  // namespace

Role RoleOf(const std::string& name) {
  if (name == kIdleName) return Role::kDeviceIdle;
  if (name == kWaitsName) return Role::kHostReads;
  const std::set<std::string> words = WordsOf(name);
  const bool is_of_evaluation =
      HasOneOf(words, {"val", "valid", "validation", "eval", "evaluation", "test", "dev"});
  if (words.contains("loss")) {
    return is_of_evaluation ? Role::kEvaluationLoss : Role::kTrainingLoss;
  }
  if (HasOneOf(words, {"lr", "rates"}) || (words.contains("learning") && words.contains("rate"))) {
    return Role::kLearningRate;
  }
  const bool is_time = HasOneOf(words, {"time", "timestamp", "seconds", "elapsed", "walltime"});
  const size_t beside = words.contains("wall") || words.contains("elapsed") ? 2 : 1;
  return is_time && words.size() <= beside ? Role::kTime : Role::kMetric;
}

Run RunOf(const Log& log) {
  Run run{.trace = {}, .ending = {Ending::How::kFinished, 0}};
  const std::string main_loss = MainLossOf(log);
  run.trace.SetProcessAttribute("log", log.kind);
  std::set<int64_t> steps, evaluated;
  Times times;
  uint64_t order = 0;
  for (const LogRow& row : log.rows) {
    const Role role = RoleOf(row.name);
    const auto add = [&](Quantity quantity, const char* kind) {
      run.trace.AddSample(quantity, run.trace.AddThing(kind, 0, row.name),
                          {.step = row.step, .order = order++, .value = row.value});
    };
    if (role == Role::kTrainingLoss && row.name == main_loss) {
      steps.insert(row.step);
      add(Quantity::kLoss, "loss");
    } else if (role == Role::kEvaluationLoss) {
      evaluated.insert(row.step);
      add(Quantity::kEvaluationLoss, "model");
    } else if (role == Role::kDeviceIdle) {
      add(Quantity::kDeviceIdle, "accelerator");
    } else if (role == Role::kHostReads) {
      add(Quantity::kHostReads, "accelerator");
    } else if (role == Role::kTime) {
      if (log.kind == kProfilerTrace) steps.insert(row.step);
      times.try_emplace(row.step, row.value);
    } else if (role == Role::kLearningRate) {
      add(Quantity::kLearningRate, "group");
    } else {
      if (log.kind == kMemorySnapshot) steps.insert(row.step);
      add(Quantity::kMetric, "metric");
    }
  }
  for (const int64_t step : steps) {
    run.trace.AddEvent({.event = Event::kStep, .step = step, .last_step = step, .order = order++});
  }
  AddStepTimes(times, evaluated, run.trace, order);
  return run;
}

}  // namespace dlcheck
