#include "diagnostics/logs/step_names.h"

#include "absl/strings/ascii.h"

namespace dlcheck {

size_t StepNameIn(const std::vector<std::string>& names) {
  // The first of these that is there counts.
  constexpr std::string_view kNames[] = {"step",        "global_step", "trainer/global_step",
                                         "_step",       "iteration",   "iter",
                                         "num_updates", "update",      "epoch"};
  for (const std::string_view name : kNames) {
    for (size_t i = 0; i < names.size(); ++i) {
      if (absl::AsciiStrToLower(names[i]) == std::string(name)) return i;
    }
  }
  return names.size();
}

std::optional<int64_t> StepOf(double number) {
  if (!(number >= 0) || number > 0x1p53) return std::nullopt;
  return static_cast<int64_t>(number);
}

void AddFlaw(std::string flaw, Log& log) {
  if (log.flaws.size() < kMostFlaws) log.flaws.push_back(std::move(flaw));
}

}  // namespace dlcheck
