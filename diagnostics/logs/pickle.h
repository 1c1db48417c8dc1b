// Plain values in the pickle format of Python, protocols 2 to 5: none, truth values, integers,
// floats, strings, lists, tuples and dicts. Source: pickletools.py of the standard library.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"

namespace dlcheck {

struct Pickled;
using PickledRef = std::shared_ptr<Pickled>;  // one value may stand in several places
using PickledList = std::vector<PickledRef>;
using PickledDict = std::vector<std::pair<PickledRef, PickledRef>>;

struct Pickled {
  std::variant<std::monostate, bool, int64_t, double, std::string, PickledList, PickledDict> value;
};

// Calls nothing that the file names. Errors: InvalidArgument where it is cut off, or holds objects
// or other values than these.
absl::StatusOr<PickledRef> ParsePickle(const std::string& bytes);

// The value of a key; null where `value` is no dict or has no such key.
const Pickled* At(const Pickled& value, std::string_view key);
// 0, "" and an empty list where the value is of another kind, or null.
int64_t IntegerOf(const Pickled* value);
std::string TextOf(const Pickled* value);
const PickledList& ListOf(const Pickled* value);

}  // namespace dlcheck
