// The reason where a reading needs what only the program itself can say. One text, so that a report
// names all such checks in one sentence.
#pragma once

namespace dlcheck {

inline constexpr char kNotTold[] = "the program did not tell the probe";

}  // namespace dlcheck
