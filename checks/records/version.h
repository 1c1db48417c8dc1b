// The version of dlcheck, the one place it is written.
#pragma once

namespace dlcheck {

inline constexpr char kVersion[] = "0.1.0";

}  // namespace dlcheck
