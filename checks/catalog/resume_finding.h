// What is said of a run that goes on as another than the one that it was resumed from.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "checks/engine/check.h"
#include "checks/signals/program_state.h"

namespace dlcheck::checkpoint {

using Parts = ProgramState::Parts;
using Losses = std::vector<ProgramState::Loss>;

// What a program may leave to chance: it goes on with other numbers and other data.
bool IsChance(std::string_view part);

// A model or an average that has not been used yet shows nothing: a part that one run need not have
// because the other has it.
bool ShowsLate(std::string_view part);

// Which of the parts `names` differ, and which only one of the runs has.
std::string PartsStory(const std::vector<std::string>& names, const Parts& plain,
                       const Parts& resumed);

// The first loss that differs, counted from `at_step`; empty if none does.
std::string LossStory(const Losses& plain, const Losses& resumed, int64_t at_step);

// One sentence without its full stop.
std::string ResumeMessage(const std::string& parts, const std::string& loss, int64_t at_step);

// `names` are the parts that differ.
Finding Differing(Severity severity, std::string message, const std::vector<std::string>& names,
                  int64_t at_step);

// What was compared.
std::string Compared(const Parts& parts, const Losses& expected, const Losses& got);

}  // namespace dlcheck::checkpoint
