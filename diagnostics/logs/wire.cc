#include "diagnostics/logs/wire.h"

#include <cstring>

namespace dlcheck {
namespace {

enum Type : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

}  // namespace

bool WireReader::Fail() {
  damaged_ = true;
  return false;
}

bool WireReader::Varint(uint64_t& value) {
  value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (rest_.empty()) return Fail();
    const auto byte = static_cast<uint8_t>(rest_[0]);
    rest_.remove_prefix(1);
    value |= uint64_t{byte & 0x7Fu} << shift;
    if (byte < 0x80) return true;
  }
  return Fail();
}

bool WireReader::Fixed(size_t size, uint64_t& value) {
  if (rest_.size() < size) return Fail();
  value = 0;
  std::memcpy(&value, rest_.data(), size);  // little-endian, as all machines that this runs on
  rest_.remove_prefix(size);
  return true;
}

bool WireReader::Next(WireField& field) {
  uint64_t tag = 0;
  if (damaged_ || rest_.empty() || !Varint(tag)) return false;
  field = {.number = static_cast<int>(tag >> 3), .integer = 0, .bytes = {}};
  switch (tag & 7) {
    case kVarint:
      return Varint(field.integer);
    case kFixed64:
      return Fixed(8, field.integer);
    case kFixed32:
      return Fixed(4, field.integer);
    case kBytes: {
      uint64_t size = 0;
      if (!Varint(size) || size > rest_.size()) return Fail();
      field.bytes = rest_.substr(0, size);
      rest_.remove_prefix(size);
      return true;
    }
    default:
      return Fail();
  }
}

}  // namespace dlcheck
