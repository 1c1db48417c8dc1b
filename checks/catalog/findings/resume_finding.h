// Messages about a resumed run that differs from the uninterrupted run.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "checks/engine/check.h"
#include "checks/signals/checkpoint/program_state.h"

namespace dlcheck::checkpoint {

using Parts = ProgramState::Parts;
using Losses = std::vector<ProgramState::Loss>;

// Parts that may be random on purpose: random numbers and the order of data.
bool IsChance(std::string_view part);

// Parts that appear only after first use, as of models and EMA weights: one run may lack what the
// other has.
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

// "14 parts of the state, 32 backward calls".
std::string Compared(const Parts& parts, const Losses& expected, const Losses& got);

}  // namespace dlcheck::checkpoint
