#include "checks/signals/checkpoint/program_state.h"

#include <algorithm>
#include <bit>

#include "checks/signals/loss/initial_loss.h"
#include "checks/signals/run/first_process.h"
#include "checks/signals/run/not_told.h"

namespace dlcheck {

bool ProgramState::Loss::operator==(const Loss& other) const {
  return step == other.step && micro_step == other.micro_step &&
         std::bit_cast<uint64_t>(value) == std::bit_cast<uint64_t>(other.value);
}

const ProgramState::Parts* ProgramState::PartsAt(int64_t step) const {
  const auto found = at.find(step);
  return found == at.end() ? nullptr : &found->second;
}

ProgramState::Parts ProgramState::AllParts() const {
  Parts all;
  for (const auto& [step, parts] : at) all.insert(parts.begin(), parts.end());
  return all;
}

std::vector<ProgramState::Loss> ProgramState::LossesFrom(int64_t first, int64_t count) const {
  std::vector<Loss> chosen;
  for (const Loss& loss : losses) {
    if (loss.step < first || loss.step >= first + count) continue;
    chosen.push_back({loss.step - first, loss.micro_step, loss.value});
  }
  return chosen;
}

std::vector<std::string> DifferingParts(const ProgramState::Parts& a,
                                        const ProgramState::Parts& b) {
  std::vector<std::string> names;
  for (const auto& [name, digest] : a) {
    const auto found = b.find(name);
    if (found == b.end() || found->second != digest) names.push_back(name);
  }
  for (const auto& [name, digest] : b) {
    if (!a.contains(name)) names.push_back(name);
  }
  return names;
}

std::optional<size_t> FirstDifference(const std::vector<ProgramState::Loss>& a,
                                      const std::vector<ProgramState::Loss>& b) {
  const size_t count = std::min(a.size(), b.size());
  for (size_t at = 0; at < count; ++at) {
    if (!(a[at] == b[at])) return at;
  }
  return std::nullopt;
}

absl::StatusOr<ProgramState> ProgramState::From(const Run& run) {
  const Trace& trace = run.trace;
  ProgramState state;
  for (const ThingId part : trace.ThingsWith(Quantity::kStateDigest)) {
    for (const Sample& sample : FirstProcess(trace.Series(Quantity::kStateDigest, part))) {
      state.at[sample.step][trace.thing(part).name] = {sample.value, sample.aux};
    }
  }
  if (state.at.empty()) return absl::NotFoundError(kNotTold);
  for (const ThingId loss : trace.ThingsWith(Quantity::kLoss)) {
    for (const Sample& sample : FirstProcess(trace.Series(Quantity::kLoss, loss))) {
      state.losses.push_back({sample.step, sample.micro_step, sample.value});
    }
  }
  std::stable_sort(state.losses.begin(), state.losses.end(), [](const Loss& a, const Loss& b) {
    return std::pair(a.step, a.micro_step) < std::pair(b.step, b.micro_step);
  });
  state.loaded = LoadedBeforeStart(trace);
  state.nondeterministic = std::string(trace.ProcessAttribute("nondeterministic"));
  return state;
}

}  // namespace dlcheck
