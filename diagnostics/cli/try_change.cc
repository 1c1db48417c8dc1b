#include "diagnostics/cli/try_change.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_format.h"
#include "checks/catalog/catalog.h"
#include "checks/engine/clock.h"
#include "checks/engine/status.h"
#include "checks/engine/text.h"
#include "checks/observe/launcher/launcher.h"
#include "checks/records/line_file.h"
#include "checks/signals/loss/loss_curve.h"
#include "diagnostics/cli/suggestion.h"
#include "diagnostics/render/render.h"

namespace dlcheck::cli {
namespace {

constexpr int64_t kStepsBehind = 64;  // of a short run, behind the first step of the finding
constexpr size_t kLateSteps = 8;      // whose losses are compared

absl::StatusOr<std::optional<Suggestion>> SuggestionFor(const Report& report,
                                                        const OutputFolder& folder) {
  DLCHECK_ASSIGN_OR_RETURN(const std::string own, folder.AddSuggestion());
  const std::string file = own + "/result.json";
  const Expected<Done> written = WriteWholeFile(file, RenderJson(report, {}), 0600);
  if (!written.ok()) return ToStatus(written.failure());
  return MakeSuggestion(file, own);
}

const Finding* FindingOf(const Report& report, std::string_view check) {
  for (const Result& result : report.results) {
    if (result.check->id == check && result.outcome == Outcome::kFailed) {
      return &result.verdict.findings.front();
    }
  }
  return nullptr;
}

// Checks with an error or a warning.
std::set<std::string_view> Loud(const Report& report) {
  std::set<std::string_view> checks;
  for (const Result& result : report.results) {
    if (result.outcome == Outcome::kFailed && WorstOf(result.verdict) > Severity::kNote) {
      checks.insert(result.check->id);
    }
  }
  return checks;
}

// Median of the last losses up to a step; none where there are not enough.
std::optional<double> LossUpTo(const LossCurve& curve, int64_t step) {
  std::vector<double> losses;
  for (const LossCurve::Point& point : curve.points) {
    if (point.step <= step) losses.push_back(point.loss);
  }
  if (losses.size() < kLateSteps) return std::nullopt;
  const auto middle = losses.end() - kLateSteps / 2;
  std::nth_element(losses.end() - kLateSteps, middle, losses.end());
  return *middle;
}

// What the losses of both runs say, as the rest of a sentence; empty where nothing can be compared.
std::string CompareLosses(const Run& before, const Run& after, TriedChange& tried) {
  const absl::StatusOr<LossCurve> was = LossCurve::From(before), is = LossCurve::From(after);
  if (!was.ok() || !is.ok() || was->points.empty() || is->points.empty()) return "";
  const int64_t step = std::min(was->points.back().step, is->points.back().step);
  tried.loss_before = LossUpTo(*was, step);
  tried.loss_after = LossUpTo(*is, step);
  if (!tried.loss_before || !tried.loss_after) return "";
  return absl::StrFormat(", and the loss at step %d is %.4g instead of %.4g", step,
                         *tried.loss_after, *tried.loss_before);
}

class Trial {
 public:
  Trial(CommandSubject& subject, const Report& report, const Choice& choice,
        const Suggestion& suggestion, absl::Duration time, const std::function<void()>& on_run)
      : subject_(subject),
        report_(report),
        choice_(choice),
        suggestion_(suggestion),
        until_(MonotonicNow() + time),
        on_run_(on_run) {}

  // One sentence. Sets what else `tried` says.
  std::string Run(const dlcheck::Run& plain, int64_t steps, TriedChange& tried) {
    if (until_ <= MonotonicNow()) return NotTried("the time budget (--deep-timeout) was spent");
    on_run_();
    absl::StatusOr<dlcheck::Run> run = subject_.RunChanged(
        suggestion_.file, suggestion_.changed_file, steps, until_ - MonotonicNow());
    if (!run.ok()) return NotTried(std::string(run.status().message()));
    if (WasInterrupted()) return NotTried("dlcheck was interrupted");
    if (run->ending.how == Ending::How::kDeadline) {
      return NotTried("the run did not end within the time budget (--deep-timeout)");
    }
    // What a run that broke off did not show is not gone.
    const bool fails =
        run->ending.how == Ending::How::kFailed || run->ending.how == Ending::How::kKilled;
    if (fails && plain.ending.how != run->ending.how) {
      return StrCat("With the change of `dlcheck suggest`, the program failed (status ",
                    run->ending.status, "), and the finding was not judged again.");
    }
    Evidence evidence;
    evidence.Add(kPlain, *std::move(run));
    Report changed = JudgeAll(evidence, choice_.checks, choice_.settings);
    SetAside(choice_.exemptions, changed);
    const auto result = std::ranges::find_if(changed.results, [this](const Result& each) {
      return each.check->id == suggestion_.check;
    });
    if (result == changed.results.end() || !HasVerdict(*result)) {
      if (steps > 0) return Run(plain, 0, tried);
      return "With the change of `dlcheck suggest`, the check reaches no verdict.";
    }
    tried.gone = result->outcome == Outcome::kPassed;
    std::string text = StrCat("With the change of `dlcheck suggest`, the finding is ",
                              tried.gone ? "gone" : "still there");
    if (suggestion_.keeps_loss) {
      text += CompareLosses(plain, *evidence.RunOf(kPlain), tried);
    }
    return text + "." + NewFindings(changed);
  }

 private:
  static std::string NotTried(const std::string& why) {
    return StrCat("The change of `dlcheck suggest` was not tried: ", why, ".");
  }

  std::string NewFindings(const Report& changed) const {
    const std::set<std::string_view> before = Loud(report_);
    std::vector<std::string> found;
    for (const std::string_view check : Loud(changed)) {
      if (!before.contains(check)) found.emplace_back(check);
    }
    return found.empty() ? "" : StrCat(" That run has findings of ", Listed(found, 3), ".");
  }

  CommandSubject& subject_;
  const Report& report_;
  const Choice& choice_;
  const Suggestion& suggestion_;
  const absl::Duration until_;
  const std::function<void()>& on_run_;
};

}  // namespace

std::optional<TriedChange> TryChange(CommandSubject& subject, const Report& report,
                                     const Evidence& evidence, const Choice& choice,
                                     const OutputFolder& folder, absl::Duration time,
                                     const std::function<void()>& on_run) {
  const absl::StatusOr<std::optional<Suggestion>> suggestion = SuggestionFor(report, folder);
  const Run* plain = evidence.RunOf(kPlain);
  if (!suggestion.ok() || !suggestion->has_value() || plain == nullptr) return std::nullopt;
  const Finding* finding = FindingOf(report, (*suggestion)->check);
  if (finding == nullptr) return std::nullopt;
  TriedChange tried{.check = (*suggestion)->check,
                    .file = (*suggestion)->file,
                    .diff = (*suggestion)->diff,
                    .outcome = ""};
  Trial trial(subject, report, choice, **suggestion, time, on_run);
  tried.outcome =
      trial.Run(*plain, std::max<int64_t>(finding->first_step, 0) + kStepsBehind, tried);
  return tried;
}

}  // namespace dlcheck::cli
