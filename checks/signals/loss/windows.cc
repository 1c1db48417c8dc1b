#include "checks/signals/loss/windows.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "checks/signals/run/step_order.h"

namespace dlcheck {
namespace {

// A loss in fp32 is a difference of logits of order one, off by about 1e-7 of them: above this it
// is exact to 1e-4 or better.
constexpr double kLeastLoss = 1e-2;

using StepPlace = std::pair<int64_t, uint16_t>;  // step and micro-step

// The first process's samples; a place that has several is in `doubled`.
struct Samples {
  std::map<StepPlace, Sample> at;
  std::set<StepPlace> doubled;
};

Samples SamplesOf(const Trace& trace, Quantity quantity) {
  Samples samples;
  for (const ThingId thing : trace.ThingsWith(quantity)) {
    for (const Sample& sample : trace.Series(quantity, thing)) {
      if (sample.rank != 0) continue;
      const StepPlace place{sample.step, sample.micro_step};
      if (!samples.at.emplace(place, sample).second) samples.doubled.insert(place);
    }
  }
  return samples;
}

// True unless two calls are known to start from different losses or to stand in different lines.
bool IsOneLoss(const std::vector<Occurrence>& calls) {
  return std::ranges::all_of(calls, [&calls](const Occurrence& call) {
    return call.thing == calls.front().thing && call.site == calls.front().site;
  });
}

// The first dimension of what models were given in each micro-batch; 0 where it differs.
std::map<uint32_t, double> SamplesIn(const StepOrder::Step& step) {
  std::map<uint32_t, double> samples;
  for (const Occurrence& used : step.Within(Event::kUsed, 0, step.end())) {
    const auto [known, is_new] = samples.emplace(used.micro_step, used.value);
    if (!is_new && known->second != used.value) known->second = 0;
  }
  return samples;
}

// Empty unless every backward call of the step has one share that can be trusted.
Windows::Window WindowOf(const StepOrder::Step& step, const Samples& shares,
                         const Samples& losses) {
  Windows::Window window{.step = step.step, .micro = {}};
  const std::vector<Occurrence> calls = step.Within(Event::kBackward, 0, step.end());
  if (!IsOneLoss(calls)) return {};
  const auto count = static_cast<int64_t>(calls.size());
  std::map<uint32_t, double> samples = SamplesIn(step);
  for (int64_t i = 0; i < count; ++i) {
    const StepPlace place{step.step, static_cast<uint16_t>(i)};
    const auto share = shares.at.find(place);
    if (share == shares.at.end() || shares.doubled.contains(place)) return {};
    const auto loss = losses.at.find(place);
    const bool is_small = loss != losses.at.end() &&
                          std::abs(loss->second.value) < kLeastLoss * std::abs(share->second.value);
    if (is_small || !(share->second.aux > 0)) return {};
    window.micro.push_back(
        {share->second.value, share->second.aux, samples[static_cast<uint32_t>(i)]});
  }
  window.cleared_inside =
      !step.Within(Event::kCleared, step.FirstBackward(), step.LastBackward()).empty();
  return window;
}

// The one with most steps; the earliest of several.
ThingId MainOptimizer(const StepOrder& order) {
  std::map<ThingId, int64_t> counts;
  for (const StepOrder::Step& step : order.steps) ++counts[step.optimizer];
  return std::ranges::max_element(counts, {}, &std::pair<const ThingId, int64_t>::second)->first;
}

}  // namespace

double Windows::Window::Targets() const {
  double sum = 0;
  for (const MicroBatch& one : micro) sum += one.targets;
  return sum;
}

double Windows::Window::Share() const {
  double sum = 0;
  for (const MicroBatch& one : micro) sum += one.share;
  return sum;
}

double Windows::Window::Unevenness() const {
  const double mean = Targets() / static_cast<double>(micro.size());
  double largest = 0;
  for (const MicroBatch& one : micro) largest = std::max(largest, std::abs(one.targets / mean - 1));
  return largest;
}

absl::StatusOr<Windows> Windows::From(const Run& run) {
  const absl::StatusOr<StepOrder> order = StepOrder::From(run);
  if (!order.ok()) return order.status();
  const Samples shares = SamplesOf(run.trace, Quantity::kLossShare);
  if (shares.at.empty()) {
    return absl::NotFoundError("no loss was observed together with its outputs and targets");
  }
  const Samples losses = SamplesOf(run.trace, Quantity::kLoss);
  Windows windows;
  windows.interleaved = !order->has_one_at_a_time();
  const ThingId optimizer = MainOptimizer(*order);
  windows.declared = std::string(run.trace.ProcessAttribute("declared.accumulation"));
  for (const ThingId loss : run.trace.ThingsOfKind("loss")) {
    const std::string_view kind = run.trace.Attribute(loss, "kind");
    windows.has_distance |= kind == "mse" || kind == "l1" || kind == "smooth_l1" || kind == "huber";
  }
  for (const StepOrder::Step& step : order->steps) {
    if (!windows.interleaved && step.optimizer != optimizer) continue;
    if (run.trace.Attribute(step.optimizer, "type") == "LBFGS") continue;
    Window window = WindowOf(step, shares, losses);
    if (window.micro.empty()) continue;
    if (!window.cleared_inside) windows.full = std::max(windows.full, window.micro.size());
    windows.windows.push_back(std::move(window));
  }
  if (windows.windows.empty()) {
    return absl::NotFoundError("no step recorded the loss of each of its backward calls");
  }
  return windows;
}

std::vector<double> DividedAgainBy(const Windows::Window& window, double tolerance) {
  const auto k = static_cast<double>(window.micro.size());
  for (const auto number : {&Windows::MicroBatch::targets, &Windows::MicroBatch::samples}) {
    for (const double parts : {1.0, k}) {
      std::vector<double> divisors;
      for (const Windows::MicroBatch& one : window.micro) {
        const double wanted = 1 / (one.*number * parts);
        const bool is_so = one.*number > 1 && std::abs(one.share - wanted) <= tolerance * wanted;
        if (is_so) divisors.push_back(one.*number);
      }
      if (divisors.size() == window.micro.size()) return divisors;
    }
  }
  return {};
}

Division DivisionOf(const Windows::Window& window, size_t full, double tolerance) {
  const auto k = static_cast<double>(window.micro.size()), whole = static_cast<double>(full);
  const double targets = window.Targets(), first = window.micro.front().targets;
  const auto every = [&](const auto& expected) {
    return std::ranges::all_of(window.micro, [&](const Windows::MicroBatch& one) {
      const double wanted = expected(one.targets);
      return std::abs(one.share - wanted) <= tolerance * wanted;
    });
  };
  if (every([&](double n) { return n / targets; })) return Division::kByTargets;
  if (k > 1 && every([](double) { return 1.0; })) return Division::kUndivided;
  if (every([&](double) { return 1 / k; })) return Division::kByMicroBatches;
  if (k < whole && (every([&](double) { return 1 / whole; }) ||
                    every([&](double n) { return n / (first * whole); }))) {
    return Division::kAsIfFull;
  }
  if (k > 1 && (every([&](double n) { return n / (targets * k); }) ||
                every([&](double) { return 1 / (k * k); }))) {
    return Division::kTwice;
  }
  return Division::kOther;
}

}  // namespace dlcheck
