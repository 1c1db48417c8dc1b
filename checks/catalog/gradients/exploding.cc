#include <algorithm>
#include <cmath>
#include <deque>
#include <map>

#include "checks/catalog/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/gradients.h"
#include "checks/signals/norm_clips.h"
#include "checks/signals/statistics.h"

namespace dlcheck::gradients {
namespace {

constexpr Setting kRatio{.name = "ratio",
                         .value = 10,
                         .low = 2,
                         .high = 1e6,
                         .unit = "times the median",
                         .meaning =
                             "global gradient norm against the median before it that makes an "
                             "outbreak",
                         .source = "measured: at most 4.9 in 80 healthy runs"};
constexpr Setting kExtreme{.name = "extreme",
                           .value = 1000,
                           .low = 10,
                           .high = 1e12,
                           .unit = "times the median",
                           .meaning = "one step above this is enough",
                           .source = "two hundred times the healthy maximum"};
constexpr Setting kOutbreaks{.name = "outbreaks",
                             .value = 3,
                             .low = 1,
                             .high = 100,
                             .unit = "steps",
                             .meaning = "outbreaks among 100 sampled steps that are reported",
                             .source = "measured with the ratio"};
constexpr size_t kWindow = 100;  // sampled steps behind the median
constexpr size_t kSettled = 50;  // sampled steps before judging: the first are not typical

constexpr size_t kLevelSteps = 20;      // more outbreaks than the next number in so many sampled
constexpr int64_t kLevelOutbreaks = 5;  // steps are a new level

struct Outbreak {
  int64_t step;
  double norm, median;
};

// Global norm by sampled step, apart for each optimizer: the networks of a GAN, and the phases of a
// training in several, have nothing to do with each other's size.
std::map<ThingId, std::map<int64_t, double>> GlobalNorms(const Gradients& gradients) {
  std::map<ThingId, std::map<int64_t, double>> norms;
  for (const Gradients::Parameter& parameter : gradients.parameters) {
    for (const Sample& sample : parameter.consumed) {
      double& norm = norms[sample.owner][sample.step];
      norm = std::hypot(norm, sample.value);
    }
  }
  return norms;
}

// A step breaks out if it is far above the median of those before it and above all that was seen
// while training settled: near convergence the median is so small that a hard batch alone exceeds
// the ratio. Many outbreaks close together are no explosion but another level, as where a
// curriculum goes on to harder data or a plateau ends; what is usual is then learned anew.
class Watcher {
 public:
  explicit Watcher(const Settings& settings)
      : ratio_(settings[kRatio]), extreme_(settings[kExtreme]) {}

  void Add(int64_t step, double norm) {
    const bool settled = seen_ >= kSettled;
    if (!settled) peak_ = std::max(peak_, norm);
    const double median = settled ? Median({window_.begin(), window_.end()}) : 0;
    const bool breaks_out = settled && norm > ratio_ * median && norm > 2 * peak_;
    recent_.push_back(breaks_out);
    if (recent_.size() > kLevelSteps) recent_.pop_front();
    if (breaks_out) {
      outbreaks_.push_back({step, norm, median});  // no part of what is usual
      if (std::ranges::count(recent_, true) > kLevelOutbreaks) BeginLevel();
      return;
    }
    ++seen_;
    window_.push_back(norm);
    if (window_.size() > kWindow) window_.pop_front();
  }

  const std::vector<Outbreak>& outbreaks() const { return outbreaks_; }

 private:
  void BeginLevel() {
    window_.clear();
    for (int64_t i = 0; i <= kLevelOutbreaks; ++i) {
      const Outbreak& last = outbreaks_.back();
      window_.push_back(last.norm);
      peak_ = std::max(peak_, last.norm);
      // One that is extreme is reported all the same.
      if (last.norm > extreme_ * last.median) break;
      outbreaks_.pop_back();
    }
    recent_.clear();
  }

  double ratio_, extreme_, peak_ = 0;
  size_t seen_ = 0;
  std::deque<double> window_;
  std::deque<bool> recent_;
  std::vector<Outbreak> outbreaks_;
};

std::vector<Outbreak> Outbreaks(const std::map<int64_t, double>& norms, const Settings& settings) {
  Watcher watcher(settings);
  for (const auto& [step, norm] : norms) {
    if (std::isfinite(norm)) watcher.Add(step, norm);
  }
  return watcher.outbreaks();
}

// True if every outbreak was clipped: then no step is larger than the bound allows.
bool AllClipped(const std::vector<Outbreak>& outbreaks, const IfSeen<NormClips>& clips) {
  constexpr double kRounding = 1.02;
  if (!clips) return false;
  return std::ranges::all_of(outbreaks, [&](const Outbreak& outbreak) {
    return std::ranges::any_of(clips->steps, [&](const NormClips::Step& step) {
      return step.step == outbreak.step && outbreak.norm <= kRounding * step.bound;
    });
  });
}

Finding FoundIn(const std::vector<Outbreak>& outbreaks, const Settings& settings,
                const IfSeen<NormClips>& clips) {
  const Outbreak& worst = *std::max_element(
      outbreaks.begin(), outbreaks.end(),
      [](const Outbreak& a, const Outbreak& b) { return a.norm / a.median < b.norm / b.median; });
  const double ratio = worst.norm / worst.median;
  const auto count = static_cast<int64_t>(outbreaks.size());
  const bool reported =
      (static_cast<double>(count) >= settings[kOutbreaks] || ratio > settings[kExtreme]) &&
      !AllClipped(outbreaks, clips);
  return {.severity = reported ? Severity::kWarning : Severity::kNote,
          .message = StrCat("The gradient explodes: its global norm was ", Short(ratio),
                            " times the usual at step ", worst.step, " (", Short(worst.norm),
                            " against a median of ", Short(worst.median), "), and more than ",
                            settings[kRatio], " times in ", Counted(count, "sampled step"),
                            " from step ", outbreaks.front().step, " on."),
          .places = {},
          .first_step = outbreaks.front().step,
          .last_step = outbreaks.back().step,
          .count = count,
          .measured = ratio,
          .bound = settings[kRatio]};
}

absl::StatusOr<Verdict> Judge(const Settings& settings, const Gradients& gradients,
                              const IfSeen<NormClips>& clips) {
  Verdict verdict;
  size_t judged = 0, most = 0;
  for (const auto& [optimizer, norms] : GlobalNorms(gradients)) {
    most = std::max(most, norms.size());
    if (norms.size() <= kSettled) continue;
    judged += norms.size();
    const std::vector<Outbreak> outbreaks = Outbreaks(norms, settings);
    if (!outbreaks.empty()) verdict.findings.push_back(FoundIn(outbreaks, settings, clips));
  }
  if (judged == 0) {
    return absl::NotFoundError(StrCat("only ", Counted(static_cast<int64_t>(most), "step"),
                                      " with gradients; more than ", kSettled, " are needed"));
  }
  verdict.judged = Counted(static_cast<int64_t>(judged), "sampled step");
  return verdict;
}

Evidence OneBurst(double times) {
  RunBuilder run = TwoLayers();
  for (int step = 0; step < 64; ++step) {
    const double factor = step >= 60 && step < 63 ? times : 1;
    AddStep(run, {.trunk_gradient = 0.1 * factor, .head_gradient = 0.2 * factor, .held = {}});
  }
  return PlainOnly(run);
}

}  // namespace

Check Exploding() {
  return {
      .id = "gradients/exploding",
      .promise = "The gradient's norm stays within reach of what it usually is.",
      .why =
          "A few steps with a huge gradient throw the weights far away, or make clipping discard "
          "nearly all of the batch.",
      .method =
          "Global norm of each optimizer's gradients as its step consumed them, against the median "
          "of up to "
          "100 sampled steps before it, after the first 50; a step also has to exceed twice "
          "the largest norm of those 50.",
      .fix =
          "Look at the batch of the named step; clip with torch.nn.utils.clip_grad_norm_ before "
          "optimizer.step(), lower the learning rate, or lengthen the warm-up.",
      .limits =
          "Gradients are measured as consumed, so clipping hides an explosion. Bursts between "
          "sampled steps are not seen. More than five outbreaks in 20 sampled steps are taken for "
          "a new "
          "level, as of harder data; outbreaks that a clipping held to its bound are a note. Three "
          "steps at 10 times, or one at 1,000 times, are a "
          "warning; less is a note.",
      .sources = {"Pascanu et al. 2013", "measured: 4 optimizers, 20 runs each"},
      .covers = {"O19"},
      .explains = {},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kBackward,
      .settings = {kRatio, kExtreme, kOutbreaks},
      .judgement = Reads<&Judge>(),
      .examples = {{"nine times the usual", Expect::kClean, [] { return OneBurst(9); }},
                   {"eleven times the usual", Expect::kFaulty, [] { return OneBurst(11); }}},
  };
}

}  // namespace dlcheck::gradients
