#include <algorithm>
#include <map>

#include "absl/strings/str_join.h"
#include "checks/engine/text.h"
#include "diagnostics/masked.h"
#include "diagnostics/render/layout.h"
#include "diagnostics/render/places.h"
#include "diagnostics/render/render.h"
#include "diagnostics/render/render_exemptions.h"
#include "diagnostics/render/render_losses.h"
#include "diagnostics/render/render_processes.h"
#include "diagnostics/triage.h"

namespace dlcheck {
namespace {

constexpr size_t kRedirectedShown = 4;  // files

std::string RenderFinding(const Check& check, const Finding& finding) {
  std::string severity(SeverityName(finding.severity));
  severity.resize(kIndent, ' ');
  std::string text = Spread(severity + std::string(check.id), WhereAndWhen(finding)) + "\n";
  text += Row("", check.title) + Row("", finding.message);
  if (!finding.chain.empty()) text += Row("  path", absl::StrJoin(finding.chain, " → "));
  if (const std::string places = MorePlaces(finding); !places.empty()) text += Row("  at", places);
  if (const std::string lines = LinesOf(finding); !lines.empty()) text += Row("  lines", lines);
  return text;
}

// That other checks can judge only once this finding is mended.
std::string RenderMasked(const Masked& masked) {
  if (masked.checks.empty()) return "";
  return Row("  masks", StrCat(Listed(masked.checks, kPlacesShown), ": ", masked.why,
                               ". Mend this finding first, and run again."));
}

std::string RenderCause(const Report& report, const Cause& cause,
                        const std::optional<TriedChange>& tried) {
  const Check& check = *cause.result->check;
  std::string text;
  for (const Finding& finding : cause.result->verdict.findings) {
    text += RenderFinding(check, finding);
  }
  text += Row("  fix", FixIn(check, report.language));
  if (tried && tried->check == check.id) text += Row("  tried", tried->outcome);
  text += Row("  why", check.why);
  text += RenderMasked(MaskedBy(report, *cause.result));
  if (cause.symptoms.empty()) return text;
  std::vector<std::string> hidden;
  for (const Result* symptom : cause.symptoms) hidden.emplace_back(symptom->check->id);
  return text + Row("  hides", StrCat(Listed(hidden, hidden.size()), " (explained by this one)"));
}

int CountFindings(const std::vector<Cause>& causes, Severity severity) {
  int count = 0;
  for (const Cause& cause : causes) {
    for (const Finding& finding : cause.result->verdict.findings) {
      count += finding.severity == severity;
    }
  }
  return count;
}

// Findings that are not shown, because another explains them.
int CountHidden(const std::vector<Cause>& causes) {
  size_t count = 0;
  for (const Cause& cause : causes) {
    for (const Result* symptom : cause.symptoms) count += symptom->verdict.findings.size();
  }
  return static_cast<int>(count);
}

std::string Headline(const Report& report, const std::vector<Cause>& causes) {
  std::string text;
  const auto add = [&text](int count, std::string_view noun, bool plural) {
    if (count == 0) return;
    StrAppend(&text, text.empty() ? "" : " · ", count, " ", noun, plural && count != 1 ? "s" : "");
  };
  add(CountFindings(causes, Severity::kError), "error", true);
  add(CountFindings(causes, Severity::kWarning), "warning", true);
  add(CountFindings(causes, Severity::kNote), "note", true);
  add(CountHidden(causes), "explained", false);
  const bool findings = !text.empty();
  const int accepted = CountSetAside(report, SetAsideFinding::How::kAccepted);
  const int suppressed = CountSetAside(report, SetAsideFinding::How::kSuppressed);
  add(accepted, "accepted", false);
  add(suppressed, "suppressed", false);
  const int passed = Count(report, Outcome::kPassed);
  add(passed, passed == 1 ? "check passed" : "checks passed", false);
  add(Count(report, Outcome::kNotApplicable) + Count(report, Outcome::kNotSeen),
      "without a verdict", false);
  add(Count(report, Outcome::kOverAllowance), "timed out", false);
  add(Count(report, Outcome::kBroken), "internal errors", false);
  if (!findings) StrAppend(&text, accepted + suppressed > 0 ? " · no new" : " · no", " findings");
  return text;
}

constexpr std::string_view kNeedsDeep = "needs --deep";

std::string WordOf(Outcome outcome) {
  std::string word(OutcomeName(outcome));
  for (char& c : word) c = c == '_' ? ' ' : c;
  return word;
}

// What reached no verdict: how many, or where the user asked for them, all names and reasons.
std::string RenderUndecided(const Report& report, bool with_reasons) {
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> groups;
  size_t usual = 0, needs_deep = 0;
  for (const Result& result : report.results) {
    if (HasVerdict(result)) continue;
    const bool is_usual =
        result.outcome == Outcome::kNotApplicable || result.outcome == Outcome::kNotSeen;
    const bool waits = result.reason.starts_with(kNeedsDeep);
    if (is_usual && !with_reasons) {
      ++usual;
      needs_deep += waits;
      continue;
    }
    const std::string reason = waits ? std::string(kNeedsDeep) : result.reason;
    groups[{WordOf(result.outcome), reason}].emplace_back(result.check->id);
  }
  std::string text;
  if (usual > 0) {
    const std::string deep =
        needs_deep > 0 ? StrCat(" (", needs_deep, " of them need --deep)") : "";
    text += Row("", StrCat(Counted(static_cast<int64_t>(usual), "check"), " without a verdict",
                           deep, ": `dlcheck report --show-skipped`"));
  }
  for (const auto& [group, ids] : groups) {
    const auto& [outcome, reason] = group;
    const std::string why = reason.empty() ? "" : StrCat(" (", reason, ")");
    text += Row("", StrCat(outcome, ": ", Listed(ids, ids.size()), why));
  }
  return text;
}

// That the program did not come to its end, where that is no fault of its own.
std::string RenderStop(const Report& report) {
  for (const RunSummary& run : report.runs) {
    const std::string& by = run.ending.stopped_by;
    if (run.experiment != kPlain || by.empty()) continue;
    if (by.find('/') == std::string::npos)
      return Row("", StrCat("the program was stopped by ", by));
    return Row("", StrCat("the program was stopped at the first live error, of ", by));
  }
  return "";
}

std::string RenderNothing(const Report& report, const Frame& frame) {
  const std::string exit = StrCat("exit ", frame.exit_code);
  if (report.coverage.training) return Spread("dlcheck  nothing was judged", exit) + "\n";
  const std::string losses = RenderLosses(report);
  const std::string text =
      Spread("dlcheck  nothing to check: no training was observed", exit) + "\n" + losses;
  if (!losses.empty()) return text;
  if (!frame.unobserved.empty()) return text + Row("", frame.unobserved);
  return text +
         Row("",
             "No optimizer step and no backward call was observed. Updates written by hand with "
             "torch.autograd.grad() are not watched: use backward() and an optimizer. If another "
             "interpreter trains, start that one under dlcheck. Python with -I, -E or -S is not "
             "watched, nor are C++ programs that are linked statically.");
}

std::string RenderCoverage(const Coverage& coverage) {
  if (coverage.steps == 0) return "";
  const std::string steps =
      StrCat(WithCommas(coverage.sampled_steps), coverage.cut ? " of at least " : " of ",
             Counted(coverage.steps, "step"));
  if (coverage.parameters == 0) return Row("", StrCat("judged ", steps));
  return Row("", StrCat("judged ", coverage.parameters_with_gradient, " of ",
                        Counted(coverage.parameters, "parameter"), ", ", steps));
}

// Which experiments were run, and of those that were not, or came to nothing, why.
std::string RenderExperiments(const Report& report) {
  size_t count = 0;
  std::map<std::string, std::vector<std::string>> missing;  // by reason
  for (const RunSummary& run : report.runs) {
    // Of an interrupted run that is not there, the resumed one says why.
    const bool is_half = run.experiment == kInterrupted && !run.missing.empty();
    if (run.experiment == kPlain || is_half) continue;
    std::string name(ExperimentName(run.experiment.name));
    std::vector<std::string>& names = missing[run.missing];
    if (run.missing.empty()) {
      ++count;
    } else if (std::ranges::find(names, name) == names.end()) {
      names.push_back(name);
    }
  }
  missing.erase("");
  if (count == 0) return "";
  std::string text =
      Row("", StrCat("--deep: ", Counted(static_cast<int64_t>(count), "experiment"), " done"));
  for (const auto& [reason, names] : missing) {
    text += Row("", StrCat("skipped: ", Listed(names, names.size()), " (", reason, ")"));
  }
  return text;
}

// What ran where no hook looks, and what of the run was seen nowhere else.
std::string RenderUnseen(const Coverage& coverage) {
  const Unseen& unseen = coverage.unseen;
  std::vector<std::string> places;
  const auto add = [&places](int64_t count, std::string_view noun, std::string_view rest) {
    if (count > 0) places.push_back(StrCat(Counted(count, noun), rest));
  };
  add(unseen.compiled_graphs, "compiled graph", "");
  add(unseen.graph_replays, "replay", " of captured graphs");
  add(unseen.opaque_modules, "scripted or exported module", "");
  if (places.empty()) return "";
  std::string text = StrCat("unseen: the inside of ", Listed(places, places.size()));
  const int64_t layers_unseen = unseen.layers - unseen.layers_seen;
  if (layers_unseen > 0) {
    StrAppend(&text, "; ", layers_unseen, " of ", Counted(unseen.layers, "layer"),
              " not seen to run in training");
  }
  if (unseen.layers == 0) text += "; no model seen to run in training";
  if (coverage.steps == 0) text += "; no optimizer step seen";
  return Row("", text);
}

std::string RenderFrame(const Frame& frame) {
  std::string text;
  if (!frame.unobserved.empty()) text += Row("", frame.unobserved);
  if (!frame.loss.empty()) text += Row("", frame.loss);
  if (!frame.samples.empty()) {
    text += Row("", "report.html and the folder runs hold samples of your data (--samples)");
  }
  return text;
}

}  // namespace

std::string RenderText(const Report& report, const Frame& frame) {
  const std::vector<Cause> causes = Triage(report);
  const bool judged = report.coverage.training && Count(report, Outcome::kPassed) > 0;
  const bool nothing = frame.exit_code == kExitNothing && causes.empty() && !judged;
  const std::string exit = frame.exit_code == 0 ? "" : StrCat("exit ", frame.exit_code);
  const std::string before = RenderRecording(report.recording);
  if (nothing && !report.coverage.training) {
    return before + RenderNothing(report, frame) + RenderUnseen(report.coverage);
  }
  std::string text = before;
  text += nothing ? RenderNothing(report, frame)
                  : Spread(StrCat("dlcheck  ", Headline(report, causes)), exit) + "\n";
  for (const Cause& cause : causes) text += "\n" + RenderCause(report, cause, frame.tried);
  if (!causes.empty()) text += "\n";
  text += RenderExemptions(report, frame.new_only);
  text += RenderStop(report);
  const std::string losses = RenderLosses(report);
  text += losses;
  const bool is_decided = frame.exit_code == kExitUsage || frame.exit_code == kExitNothing;
  if (!losses.empty() && is_decided) text += Row("", frame.exit_reason);
  text += RenderFrame(frame);
  text += RenderCoverage(report.coverage);
  text += RenderProcesses(report.coverage.processes, kIndent);
  text += RenderUnseen(report.coverage);
  text += RenderExperiments(report);
  if (const auto& paths = report.recording.redirected; !paths.empty()) {
    text += Row("", StrCat("experiments wrote to copies, now removed, of ",
                           Listed(paths, kRedirectedShown)));
  }
  text += RenderUndecided(report, frame.with_reasons);
  if (!causes.empty()) {
    text += Row("", StrCat("next: fix the first finding and rerun; `dlcheck explain ",
                           causes.front().result->check->id, "`"));
  }
  if (!frame.result_path.empty()) text += Row("", frame.result_path);
  if (!frame.page_path.empty()) text += Row("", frame.page_path);
  return text;
}

}  // namespace dlcheck
