// What stays the same of a finding from run to run.
#pragma once

#include <string>

#include "checks/engine/check.h"

namespace dlcheck {

// The same for the same fault in another run or another checkout: the check, the things and the
// names of the files, without folders, lines, ranks and numbers. 16 hexadecimal digits.
std::string Fingerprint(const Check& check, const Finding& finding);

// "train.py" of "/home/ada/train.py".
std::string BaseName(const std::string& path);

// "fc1.weight", "rank 3", or "fc1.weight (rank 3)".
std::string NameOf(const Place& place);

// "train.py:84", or the first thing, or nothing: where a person should look.
std::string PlaceOf(const Finding& finding);

}  // namespace dlcheck
