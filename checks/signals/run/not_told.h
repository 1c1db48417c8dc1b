// The reason for a check that needs facts only the program can report. One text for all such
// checks, so that a report lists them in one sentence.
#pragma once

namespace dlcheck {

inline constexpr char kNotTold[] = "not reported to the probe (see dlcheck/probe.h)";

}  // namespace dlcheck
