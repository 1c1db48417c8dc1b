#include "checks/signals/gradients/replay.h"

#include "absl/strings/str_split.h"

namespace dlcheck {

absl::StatusOr<Replay> Replay::From(const Run& run) {
  const Trace& trace = run.trace;
  const std::vector<ThingId> births = trace.ThingsWith(Quantity::kNonfiniteBirth);
  if (births.empty()) {
    const std::string untold(trace.ProcessAttribute("unreplayed"));
    if (untold.empty())
      return absl::NotFoundError("the replay ended before the step with the non-finite value");
    Replay nothing;
    nothing.untold = untold;
    return nothing;
  }
  const ThingId birth = births.front();
  const auto attribute = [&](std::string_view key) {
    return std::string(trace.Attribute(birth, key));
  };
  const Sample& sample = trace.Series(Quantity::kNonfiniteBirth, birth).front();
  const NamedSite& site = trace.site(sample.site);
  return Replay{.untold = "",
                .of = attribute("of"),
                .name = trace.thing(birth).name,
                .inputs = attribute("inputs"),
                .phase = attribute("phase"),
                .behind = attribute("behind"),
                .module = attribute("module"),
                .reached = attribute("reached"),
                .samples = attribute("samples"),
                .path = absl::StrSplit(attribute("path"), " > ", absl::SkipEmpty()),
                .batch = std::string(trace.ProcessAttribute("kept_batch")),
                .file = site.file,
                .line = site.line,
                .step = sample.step};
}

}  // namespace dlcheck
