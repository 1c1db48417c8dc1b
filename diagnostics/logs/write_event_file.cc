// Source: as of read_event_file.cc, and RFC 3720 for the checksum.
#include <array>
#include <bit>
#include <string_view>

#include "diagnostics/logs/export.h"

namespace dlcheck {
namespace {

// CRC-32C: the polynomial of Castagnoli, reflected.
constexpr std::array<uint32_t, 256> kTable = [] {
  std::array<uint32_t, 256> table{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t rest = byte;
    for (int bit = 0; bit < 8; ++bit) rest = (rest >> 1) ^ (rest % 2 == 1 ? 0x82F63B78U : 0U);
    table[byte] = rest;
  }
  return table;
}();

// Turned and shifted, as TFRecord has it: a checksum of data that holds checksums is no good.
uint32_t MaskedChecksum(std::string_view bytes) {
  uint32_t sum = ~uint32_t{0};
  for (const char c : bytes) sum = kTable[(sum ^ static_cast<uint8_t>(c)) & 0xFF] ^ (sum >> 8);
  return std::rotr(~sum, 15) + 0xA282EAD8U;
}

template <typename T>
std::string LittleEndian(T value) {
  std::string bytes;
  for (size_t i = 0; i < sizeof(T); ++i) bytes += static_cast<char>(value >> (8 * i) & 0xFF);
  return bytes;
}

std::string Varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}

// Fields by their number and wire type: 0 varint, 1 eight bytes, 2 counted bytes, 5 four bytes.
std::string Field(int number, int type, const std::string& content) {
  return Varint(static_cast<uint64_t>(number) << 3 | static_cast<uint64_t>(type)) +
         (type == 2 ? Varint(content.size()) : "") + content;
}

std::string TfRecord(const std::string& event) {
  const std::string size = LittleEndian<uint64_t>(event.size());
  return size + LittleEndian(MaskedChecksum(size)) + event + LittleEndian(MaskedChecksum(event));
}

std::string TimeField(double now) {
  return Field(1, 1, LittleEndian(std::bit_cast<uint64_t>(now)));
}

}  // namespace

std::string EventFileOf(const Log& log, double now) {
  std::string file = TfRecord(TimeField(now) + Field(3, 2, "brain.Event:2"));
  for (const LogRow& row : log.rows) {
    const auto number = std::bit_cast<uint32_t>(static_cast<float>(row.value));
    const std::string value = Field(1, 2, row.name) + Field(2, 5, LittleEndian(number));
    file += TfRecord(TimeField(now) + Field(2, 0, Varint(static_cast<uint64_t>(row.step))) +
                     Field(5, 2, Field(1, 2, value)));
  }
  return file;
}

}  // namespace dlcheck
