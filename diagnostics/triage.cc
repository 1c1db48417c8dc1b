#include "diagnostics/triage.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace dlcheck {
namespace {

bool Explains(const Result& cause, const Result& symptom) {
  const auto& explained = cause.check->explains;
  return std::find(explained.begin(), explained.end(), symptom.check->id) != explained.end();
}

// A mild cause does not excuse a worse symptom: a note hides no error.
bool Hides(const Result& cause, const Result& symptom) {
  return &cause != &symptom && Explains(cause, symptom) &&
         WorstOf(cause.verdict) >= WorstOf(symptom.verdict);
}

// Errors, warnings, that the program failed, notes: its failing is often what a fault led to, and
// seldom the other way round.
int SeverityOrder(const Cause& cause) {
  if (cause.result->check->id == "program/failed") {
    return 2 * static_cast<int>(Severity::kWarning) - 1;
  }
  return 2 * static_cast<int>(WorstOf(cause.result->verdict));
}

constexpr std::array<std::string_view, 17> kEffects{"evaluation/changes_model",
                                                    "evaluation/draws_random_numbers",
                                                    "gradients/always_clipped",
                                                    "gradients/exploding",
                                                    "gradients/missing",
                                                    "gradients/never_clipped",
                                                    "gradients/vanishing",
                                                    "initialization/wrong_initial_loss",
                                                    "model/bias_before_norm",
                                                    "model/dead_relu_units",
                                                    "model/large_norm_epsilon",
                                                    "numerics/nonfinite_values",
                                                    "optimizer/lr_too_large",
                                                    "optimizer/weight_decay_on_norms",
                                                    "precision/half_precision_loss",
                                                    "precision/skipped_steps",
                                                    "training_loop/loss_spike"};

// What the curve of the loss looks like.
constexpr std::array<std::string_view, 4> kCurves{
    "training_loop/diverging_loss", "training_loop/flat_loss", "training_loop/oscillating_loss",
    "training_loop/plateaued_loss"};

// 0 for what may well be a cause, 1 for an effect, 2 for that a model learns little: the effect of
// most faults.
int EffectOrder(const Cause& cause) {
  const std::string_view id = cause.result->check->id;
  if (id.starts_with("learnability/") || std::ranges::find(kCurves, id) != kCurves.end()) return 2;
  return std::ranges::find(kEffects, id) == kEffects.end() ? 0 : 1;
}

// What explains it, or what explains that, up to what nothing explains.
const Result* RootOf(const std::vector<const Result*>& failed, const Result* symptom) {
  for (size_t i = 0; i < failed.size(); ++i) {
    const auto cause = std::find_if(failed.begin(), failed.end(),
                                    [&](const Result* other) { return Hides(*other, *symptom); });
    if (cause == failed.end()) break;
    symptom = *cause;
  }
  return symptom;
}

// A warning does not hide an error that it explains, but comes before it; an effect only before
// another one.
void PutExplanationsFirst(std::vector<Cause>& causes) {
  for (size_t i = 1; i < causes.size(); ++i) {
    if (WorstOf(causes[i].result->verdict) < Severity::kWarning) continue;
    const auto here = causes.begin() + static_cast<ptrdiff_t>(i);
    const auto explained = std::find_if(causes.begin(), here, [here](const Cause& other) {
      return Explains(*here->result, *other.result) &&
             (EffectOrder(*here) == 0 || EffectOrder(*here) == EffectOrder(other));
    });
    std::rotate(explained, here, here + 1);
  }
}

}  // namespace

std::span<const std::string_view> Effects() { return kEffects; }

std::vector<Cause> Triage(const Report& report) {
  std::vector<const Result*> failed;
  for (const Result& result : report.results) {
    if (result.outcome == Outcome::kFailed) failed.push_back(&result);
  }
  std::vector<Cause> causes;
  for (const Result* result : failed) {
    const bool hidden = std::any_of(failed.begin(), failed.end(),
                                    [&](const Result* other) { return Hides(*other, *result); });
    if (!hidden) causes.push_back({result, {}});
  }
  for (const Result* result : failed) {
    const Result* root = RootOf(failed, result);
    for (Cause& cause : causes) {
      if (cause.result == root && root != result) cause.symptoms.push_back(result);
    }
  }
  std::stable_sort(causes.begin(), causes.end(), [](const Cause& a, const Cause& b) {
    if (SeverityOrder(a) != SeverityOrder(b)) return SeverityOrder(a) > SeverityOrder(b);
    if (EffectOrder(a) != EffectOrder(b)) return EffectOrder(a) < EffectOrder(b);
    return a.symptoms.size() > b.symptoms.size();
  });
  PutExplanationsFirst(causes);
  return causes;
}

}  // namespace dlcheck
