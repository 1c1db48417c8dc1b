#include "checks/signals/gradients/clearing.h"
#include "checks/engine/whole.h"
#include "checks/signals/run/first_sites.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace dlcheck {
namespace {

// The sample at `step`, or null; samples are in step order.
const Sample* AtStep(std::span<const Sample> samples, int64_t step) {
  const auto found =
      std::lower_bound(samples.begin(), samples.end(), step,
                       [](const Sample& s, int64_t wanted) { return s.step < wanted; });
  return found != samples.end() && found->step == step ? &*found : nullptr;
}

// Adds the updates at which this parameter's gradient was stale.
//
// What counts is what the gradient held before the first backward of the very step that consumes
// it: in a GAN the discriminator's gradient holds old values through the generator's backward, and
// is cleared before its own.
void AddStale(const Gradients::Parameter& parameter, std::map<int64_t, Clearing::Stale>& stale) {
  for (size_t i = 1; i < parameter.consumed.size(); ++i) {
    const Sample& before = parameter.consumed[i - 1];
    const int64_t step = parameter.consumed[i].step;
    const Sample* held = AtStep(parameter.held, step);
    // Equality of a norm over equal memory is exact: the same kernel over the same numbers.
    if (held == nullptr || held->value != before.value || before.value == 0 ||
        !std::isfinite(before.value))
      continue;
    Clearing::Stale& update = stale[step];
    update.step = update.last_step = step;
    update.parameters.push_back(parameter.name);
    update.norm = std::hypot(update.norm, held->value);
  }
}

// Steps in which a probe saw, as the gradients were consumed, that nothing had cleared them.
std::set<int64_t> ConfirmedSteps(const Trace& trace) {
  std::set<int64_t> steps;
  for (const Occurrence& event : trace.Events()) {
    if (event.event == Event::kUncleared && !event.gap) steps.insert(event.step);
  }
  return steps;
}

}  // namespace

absl::StatusOr<Clearing> Clearing::From(const Run& run) {
  absl::StatusOr<Gradients> gradients = Gradients::From(run);
  if (!gradients.ok()) return gradients.status();
  Clearing clearing;
  std::map<int64_t, Stale> stale;
  for (const Gradients::Parameter& parameter : gradients->parameters) {
    if (parameter.consumed.size() < 2) continue;
    ++clearing.parameters;
    AddStale(parameter, stale);
  }
  // What a gradient held at the first backward counts only if it was still there, by the probe's
  // own look, when the step consumed it: another model's gradient may be cleared in between.
  std::erase_if(stale, [confirmed = ConfirmedSteps(run.trace)](const auto& update) {
    return !confirmed.contains(update.first);
  });
  for (const Occurrence& event : run.trace.Events()) {
    if (event.event == Event::kStep) clearing.updates_judged += Whole(event.count);
    if (event.event == Event::kBackward && !event.gap && event.micro_step == 0) {
      if (const auto found = stale.find(event.step); found != stale.end()) {
        found->second.backward_site = event.site;
      }
    }
    if (event.event != Event::kUncleared || stale.contains(event.step)) continue;
    Stale& update = stale[event.step];
    update.step = event.step;
    update.last_step = event.last_step;
    update.updates = Whole(event.count);
  }
  if (clearing.updates_judged < 2)
    return absl::NotFoundError("fewer than two optimizer steps were observed");
  for (auto& [step, update] : stale) {
    if (clearing.backward_site.line == 0) {
      clearing.backward_site = run.trace.site(update.backward_site);
    }
    clearing.stale.push_back(std::move(update));
  }
  clearing.step_site = OnlySiteOf(run.trace, Event::kStep);
  return clearing;
}

}  // namespace dlcheck
