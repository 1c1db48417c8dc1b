#include "checks/signals/evaluation/evaluations.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "checks/signals/run/first_process.h"

namespace dlcheck {
namespace {

using Evaluation = Evaluations::Evaluation;

// Fewer steps between forwards without gradients make them a part of the steps, as a generator's
// are in the steps of its critic.
constexpr int64_t kStepsPerEvaluation = 4;

struct Bounds {
  uint64_t begin, end;  // orders
};

// Whether a digest taken within the bounds differs from the first one there; none if there are not
// two.
std::optional<bool> Changed(const Trace& trace, Quantity quantity, const Bounds& bounds) {
  std::optional<bool> changed;
  for (const ThingId model : trace.ThingsWith(quantity)) {
    const Sample* first = nullptr;
    const Sample* last = nullptr;
    for (const Sample& sample : FirstProcess(trace.Series(quantity, model))) {
      if (sample.order < bounds.begin || sample.order > bounds.end) continue;
      if (first == nullptr) first = &sample;
      last = &sample;
    }
    if (first == last) continue;
    const bool differs = first->value != last->value || first->aux != last->aux;
    changed = changed.value_or(false) || differs;
  }
  return changed;
}

void Compare(const Trace& trace, const Bounds& bounds, Evaluation& evaluation) {
  const std::optional<bool> model = Changed(trace, Quantity::kModelDigest, bounds);
  if (!model) return;
  evaluation.compared = true;
  evaluation.model_changed = *model;
  evaluation.random_changed = Changed(trace, Quantity::kRandomDigest, bounds).value_or(false);
}

// Steps at which an evaluation had a loss.
std::set<int64_t> StepsWithLoss(const Trace& trace) {
  std::set<int64_t> steps;
  for (const ThingId model : trace.ThingsWith(Quantity::kEvaluationLoss)) {
    for (const Sample& sample : FirstProcess(trace.Series(Quantity::kEvaluationLoss, model))) {
      steps.insert(sample.step);
    }
  }
  return steps;
}

// Steps of evaluations whose inputs were those of another evaluation too, as a validation set's
// are, by a model whose outputs are not another's inputs, as a generator's are.
std::set<int64_t> StepsOfFixedInputs(const Trace& trace) {
  std::map<std::pair<double, double>, std::set<int64_t>> steps;
  for (const ThingId model : trace.ThingsWith(Quantity::kEvaluationFingerprint)) {
    if (trace.Attribute(model, "feeds") == "1") continue;
    for (const Sample& sample :
         FirstProcess(trace.Series(Quantity::kEvaluationFingerprint, model))) {
      steps[{sample.value, sample.aux}].insert(sample.step);
    }
  }
  std::set<int64_t> fixed;
  for (const auto& [fingerprint, where] : steps) {
    if (where.size() > 1) fixed.insert(where.begin(), where.end());
  }
  return fixed;
}

// The evaluations that ended in the first process, and how many steps were sampled.
struct Read {
  std::vector<Evaluation> evaluations;
  int64_t steps = 0, last_step = -1;
};

Read ReadAll(const Trace& trace) {
  Read read;
  Evaluation open;
  Occurrence began;
  bool is_begun = false;
  for (const Occurrence& event : FirstProcess(trace.Events())) {
    const bool is_step = event.event == Event::kStep || event.event == Event::kSkipped;
    // A gap is written in the step after its last.
    if (is_step) read.last_step = std::max(read.last_step, event.last_step - event.gap);
    if (event.gap) continue;
    if (is_step) ++read.steps;
    if (event.event == Event::kEvaluationBegan) {
      open = {};
      began = event;
      is_begun = true;
    } else if (event.event == Event::kEvaluationForward) {
      ++open.batches;
      if (event.value != 0) ++open.in_training_mode;
      if (event.aux != 0) ++open.with_gradients;
    } else if (event.event == Event::kEvaluated || event.event == Event::kEvaluationEnded) {
      const bool said_twice = !is_begun && open.batches == 0 && !read.evaluations.empty() &&
                              read.evaluations.back().step == event.step;
      if (said_twice) {
        read.evaluations.back().declared = false;
        continue;
      }
      open.step = event.step;
      open.declared = event.event == Event::kEvaluated;
      open.feeds = trace.Attribute(event.thing, "feeds") == "1";
      if (is_begun && began.step == event.step) {
        Compare(trace, {began.order, event.order}, open);
      }
      read.evaluations.push_back(open);
      open = {};
      is_begun = false;
    }
  }
  return read;
}

}  // namespace

absl::StatusOr<Evaluations> Evaluations::From(const Run& run) {
  const Trace& trace = run.trace;
  Read read = ReadAll(trace);
  for (Evaluation& evaluation : read.evaluations) {
    evaluation.is_last = evaluation.step > read.last_step;
  }
  if (read.evaluations.empty()) return absl::NotFoundError("no evaluation was observed");
  std::set<int64_t> known = StepsWithLoss(trace);
  known.merge(StepsOfFixedInputs(trace));
  const auto guessed = std::ranges::count(read.evaluations, false, &Evaluation::declared);
  const bool is_part_of_steps = kStepsPerEvaluation * guessed > read.steps;
  Evaluations evaluations;
  const Evaluation& last = read.evaluations.back();
  if (!is_part_of_steps && last.is_last && !last.feeds) evaluations.ending = last;
  std::erase_if(read.evaluations, [&](const Evaluation& evaluation) {
    if (evaluation.declared) return false;
    return is_part_of_steps || (evaluation.batches < 2 && !known.contains(evaluation.step));
  });
  if (read.evaluations.empty() && !evaluations.ending) {
    return absl::FailedPreconditionError(
        "forward passes without backward were too frequent or too short to count as evaluations");
  }
  evaluations.evaluations = std::move(read.evaluations);
  for (const ThingId module : trace.ThingsOfKind("module")) {
    const std::string_view depends = trace.Attribute(module, "mode_dependent");
    evaluations.mode_dependent |= depends == "1";
    evaluations.reads_mode |= depends == "own";
  }
  return evaluations;
}

}  // namespace dlcheck
