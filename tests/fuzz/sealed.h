// Record files whose sums are right whatever they hold, so that made-up records get past the
// reader's first line of defence.
#pragma once

#include <string>
#include <string_view>

namespace dlcheck::fuzz {

// `bytes` as a record file beside the side file `names`: with a header of this version, records in
// order, right sums in all seals, and a seal at its end.
std::string Sealed(std::string_view bytes, std::string_view names);

// A small record file's bytes.
std::string SmallRecords();

}  // namespace dlcheck::fuzz
