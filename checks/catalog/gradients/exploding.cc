#include <algorithm>
#include <cmath>
#include <deque>
#include <map>

#include "checks/catalog/examples/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/gradients/gradients.h"
#include "checks/signals/gradients/norm_clips.h"
#include "checks/signals/run/statistics.h"

namespace dlcheck::gradients {
namespace {

constexpr Setting kRatio{
    .name = "ratio",
    .value = 30,
    .low = 2,
    .high = 1e6,
    .unit = "times the median",
    .meaning =
        "global gradient norm over the median of earlier steps, above which a step is an outbreak",
    .source = "measured: at most 21 in healthy runs, with a mixture of densities as the loss"};
constexpr Setting kExtreme{
    .name = "extreme",
    .value = 1000,
    .low = 10,
    .high = 1e12,
    .unit = "times the median",
    .meaning = "global gradient norm over the median, above which one step is reported",
    .source = "50 times the largest healthy ratio"};
constexpr Setting kOutbreaks{.name = "outbreaks",
                             .value = 3,
                             .low = 1,
                             .high = 100,
                             .unit = "steps",
                             .meaning = "fewest outbreaks for a warning",
                             .source = "measured with the ratio"};
constexpr size_t kWindow = 100;  // sampled steps behind the median
constexpr size_t kSettled = 50;  // sampled steps before judging: the first are not typical

constexpr size_t kLevelSteps = 20;      // more outbreaks than the next number in so many sampled
constexpr int64_t kLevelOutbreaks = 5;  // steps are a new level

struct Outbreak {
  int64_t step;
  double norm, median;
};

// Global norm by sampled step, separately for each optimizer: the networks of a GAN and the phases
// of a training differ in size.
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

// A step is an outbreak if its norm is far above the median of earlier steps and above all norms of
// the first steps: near convergence the median is so small that a hard batch alone exceeds the
// ratio. Many outbreaks close together are not an explosion but a new level, as when a curriculum
// moves to harder data or a plateau ends; the median then starts again.
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
      outbreaks_.push_back({step, norm, median});  // not part of the median
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
      // An extreme outbreak is reported in any case.
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
          .message =
              StrCat("The global gradient norm was ", Short(ratio), " times its median at step ",
                     worst.step, " (", Short(worst.norm), " against ", Short(worst.median),
                     "). The norm was more than ", settings[kRatio], " times the median in ",
                     Counted(count, "sampled step"), " from step ", outbreaks.front().step, " on."),
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
      .title = "The gradient norm explodes",
      .promise = "The gradient norm stays within 30 times its running median.",
      .why =
          "A few steps with a huge gradient throw the weights far away, or clipping discards "
          "nearly the whole batch.",
      .method =
          "Compares the global gradient norm that each optimizer's step used with the median of up "
          "to 100 earlier sampled steps. Judging starts after 50 steps. An outbreak must also "
          "exceed twice the largest norm of those 50 steps.",
      .fix =
          "Look at the batch of the named step. Clip with torch.nn.utils.clip_grad_norm_ before "
          "optimizer.step(), lower the learning rate, or lengthen the warm-up.",
      .limits =
          {.needs = "More than 50 sampled steps with gradients.",
           .silent_when =
               "Clipping hides the explosion: the norm is measured as the step uses it. More than "
               "five outbreaks in 20 sampled steps count as a new level, as with harder data.",
           .severity = "Warning for three steps above 30 times the median, or one above 1,000 "
                       "times. Note for fewer, and for outbreaks that clipping held to its bound.",
           .blind_spots = "The check does not see bursts between sampled steps.",
           .sensitivity = ""},
      .python = {.bad = R"(optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
loss.backward()
optimizer.step())",
                 .good = R"(optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loss.backward()
nn.utils.clip_grad_norm_(model.parameters(), 1.0)
optimizer.step())"},
      .cpp = {.bad = R"(torch::optim::SGD optimizer(model->parameters(), /*lr=*/1);
loss.backward();
optimizer.step();)",
              .good = R"(torch::optim::SGD optimizer(model->parameters(), /*lr=*/0.1);
loss.backward();
nn::utils::clip_grad_norm_(model->parameters(), 1);
optimizer.step();)"},
      .sources = {"Pascanu et al. 2013", "measured: 4 optimizers, 20 runs each"},
      .covers = {"exploding-gradients"},
      .explains = {"training_loop/loss_spike"},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kLossComputed,
      .settings = {kRatio, kExtreme, kOutbreaks},
      .judgement = Reads<&Judge>(),
      .examples = {{"29 times the median", Expect::kClean, [] { return OneBurst(29); }},
                   {"31 times the median", Expect::kWarning, [] { return OneBurst(31); }}},
  };
}

}  // namespace dlcheck::gradients
