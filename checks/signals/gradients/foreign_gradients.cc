#include "checks/signals/gradients/foreign_gradients.h"

#include <cmath>
#include <map>
#include <set>

#include "checks/signals/gradients/gradients.h"

namespace dlcheck {
namespace {

// What happened at each sampled step.
struct Steps {
  std::map<int64_t, std::string> stepped;  // the optimizer; none where several did
  std::map<int64_t, SiteId> backward;      // of its first backward

  explicit Steps(const Trace& trace) {
    for (const Occurrence& event : trace.Events()) {
      if (event.gap) continue;
      if (event.event == Event::kBackward && event.micro_step == 0) {
        backward.try_emplace(event.step, event.site);
      }
      if (event.event == Event::kStep)
        stepped.insert_or_assign(event.step, trace.Display(event.thing));
    }
  }

  // Whether another optimizer made the step before, on the backward of another line.
  bool FollowsAnother(int64_t step) const {
    const auto now = stepped.find(step), before = stepped.find(step - 1);
    const auto line = backward.find(step), line_before = backward.find(step - 1);
    if (now == stepped.end() || before == stepped.end()) return false;
    if (line == backward.end() || line_before == backward.end()) return false;
    return now->second != before->second && line->second != line_before->second;
  }
};

std::map<int64_t, double> ByStep(std::span<const Sample> samples) {
  std::map<int64_t, double> values;
  for (const Sample& sample : samples) values.insert_or_assign(sample.step, sample.value);
  return values;
}

struct Found {
  std::set<int64_t> judged;
  std::map<int64_t, double> left;  // norm by step
};

// A gradient that was zero, or none, at the backward before, and is not now, was left by that
// backward.
void AddParameter(const Gradients::Parameter& parameter, const Steps& steps, Found& found) {
  const std::map<int64_t, double> held = ByStep(parameter.held);
  for (const Sample& consumed : parameter.consumed) {
    if (!steps.FollowsAnother(consumed.step)) continue;
    found.judged.insert(consumed.step);
    const auto now = held.find(consumed.step), before = held.find(consumed.step - 1);
    const bool clear_before = before == held.end() || before->second == 0;
    if (now == held.end() || !clear_before || now->second == 0 || !std::isfinite(now->second))
      continue;
    double& norm = found.left[consumed.step];
    norm = std::hypot(norm, now->second);
  }
}

}  // namespace

absl::StatusOr<ForeignGradients> ForeignGradients::From(const Run& run) {
  absl::StatusOr<Gradients> gradients = Gradients::From(run);
  if (!gradients.ok()) return gradients.status();
  const Steps steps(run.trace);
  std::set<std::string> names;
  for (const auto& [step, name] : steps.stepped) names.insert(name);
  if (names.size() < 2) return absl::FailedPreconditionError("only one optimizer steps");
  std::map<std::string, Found> by_optimizer;
  for (const Gradients::Parameter& parameter : gradients->parameters) {
    const std::string name = parameter.optimizer.substr(0, parameter.optimizer.find('/'));
    if (names.contains(name)) AddParameter(parameter, steps, by_optimizer[name]);
  }
  ForeignGradients result;
  for (const auto& [name, found] : by_optimizer) {
    Optimizer optimizer;
    optimizer.name = name;
    optimizer.judged = static_cast<int64_t>(found.judged.size());
    optimizer.foreign = static_cast<int64_t>(found.left.size());
    if (!found.left.empty()) {
      const auto& [step, norm] = *found.left.begin();
      optimizer.other = steps.stepped.at(step - 1);
      optimizer.first_step = step;
      optimizer.last_step = found.left.rbegin()->first;
      optimizer.norm = norm;
      optimizer.left_at = run.trace.site(steps.backward.at(step - 1));
      optimizer.own = run.trace.site(steps.backward.at(step));
    }
    result.optimizers.push_back(std::move(optimizer));
  }
  return result;
}

}  // namespace dlcheck
