#include "checks/engine/recording.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "checks/engine/text.h"

namespace dlcheck {
namespace {

constexpr std::string_view kRedirected = "redirected";
constexpr std::string_view kHookFailed = "hook_failed/";
constexpr char kBetween[] = ", ";  // paths in an attribute, as the probe writes them

std::set<std::string> RedirectedIn(const Trace& trace) {
  return absl::StrSplit(std::string(trace.ProcessAttribute(kRedirected)), kBetween,
                        absl::SkipEmpty());
}

Wholeness WholenessOf(const Experiment& experiment, const Losses& losses) {
  if (!losses.damaged.empty()) return Wholeness::kDamaged;
  // Experiments are cut short where they have shown what they were run for.
  const bool is_missing = experiment == kPlain && !losses.missing.empty();
  return is_missing ? Wholeness::kMissing : Wholeness::kWhole;
}

// "FILE: CAUSE" of the last input that was refused; empty if none was.
std::string RejectedIn(const Trace& trace) {
  std::string rejected;
  for (const Occurrence& event : trace.Events()) {
    if (event.event != Event::kInputRejected) continue;
    rejected = StrCat(trace.thing(event.thing).name, ": ", trace.Attribute(event.thing, "cause"));
  }
  return rejected;
}

// What an attribute of a process says was not seen; empty if it says something else.
std::string GapIn(std::string_view key, const std::string& value) {
  if (key == "unseen_threads") return "it trains in several threads, of which one was watched";
  if (!key.starts_with(kHookFailed)) return "";
  return StrCat("dlcheck's own hook '", key.substr(kHookFailed.size()),
                "' failed and was switched off: ", value);
}

void AddGaps(const Experiment& experiment, const Trace& trace, std::vector<std::string>& gaps) {
  for (const auto& [key, value] : trace.ProcessAttributes()) {
    const std::string gap = GapIn(key, value);
    if (gap.empty()) continue;
    gaps.push_back(StrCat("recording of '", Describe(experiment), "' is not complete: ", gap));
  }
}

}  // namespace

Recording RecordingOf(const Evidence& evidence) {
  Recording recording;
  std::set<std::string> redirected;
  for (const auto& [experiment, run] : evidence.runs()) {
    recording.wholeness = std::max(recording.wholeness, WholenessOf(experiment, run.losses));
    if (recording.rejected.empty()) recording.rejected = RejectedIn(run.trace);
    AddGaps(experiment, run.trace, recording.gaps);
    redirected.merge(RedirectedIn(run.trace));
  }
  recording.redirected.assign(redirected.begin(), redirected.end());
  if (const Run* plain = evidence.RunOf(kPlain)) {
    recording.empty = plain->trace.Events().empty() && plain->trace.things().size() <= 1;
    recording.at_deadline = plain->ending.how == Ending::How::kDeadline;
  }
  return recording;
}

void AddRedirected(const std::vector<std::string>& paths, Trace& trace) {
  if (paths.empty()) return;
  std::set<std::string> all = RedirectedIn(trace);
  all.insert(paths.begin(), paths.end());
  trace.SetProcessAttribute(kRedirected, absl::StrJoin(all, kBetween));
}

}  // namespace dlcheck
