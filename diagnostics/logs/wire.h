// Fields of a message in the wire format of Protocol Buffers. Source: "Encoding" in the
// documentation of Protocol Buffers.
#pragma once

#include <cstdint>
#include <string_view>

namespace dlcheck {

struct WireField {
  int number = 0;
  uint64_t integer = 0;    // of a varint, and the bits of a fixed number
  std::string_view bytes;  // of a string, a message or packed numbers
};

class WireReader {
 public:
  explicit WireReader(std::string_view message) : rest_(message) {}

  // False at the end, and where the message is damaged.
  bool Next(WireField& field);
  bool is_damaged() const { return damaged_; }

 private:
  bool Varint(uint64_t& value);
  bool Fixed(size_t size, uint64_t& value);
  bool Fail();

  std::string_view rest_;
  bool damaged_ = false;
};

}  // namespace dlcheck
