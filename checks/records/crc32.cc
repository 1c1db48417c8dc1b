#include "checks/records/crc32.h"

#include <array>
#include <cstring>

namespace dlcheck {
namespace {

constexpr uint32_t kPolynomial = 0xEDB88320u;
constexpr size_t kSlices = 8;  // bytes that one round takes
using Tables = std::array<std::array<uint32_t, 256>, kSlices>;

constexpr Tables MakeTables() {
  Tables tables{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) * kPolynomial);
    tables[0][byte] = value;
  }
  for (size_t slice = 1; slice < kSlices; ++slice) {
    for (size_t byte = 0; byte < 256; ++byte) {
      const uint32_t value = tables[slice - 1][byte];
      tables[slice][byte] = (value >> 8) ^ tables[0][value & 0xFF];
    }
  }
  return tables;
}

constexpr Tables kTables = MakeTables();

}  // namespace

uint32_t Crc32(std::string_view bytes, uint32_t before) {
  uint32_t value = ~before;
  while (bytes.size() >= kSlices) {
    uint32_t low = 0, high = 0;
    std::memcpy(&low, bytes.data(), sizeof(low));
    std::memcpy(&high, bytes.data() + sizeof(low), sizeof(high));
    low ^= value;
    value = kTables[7][low & 0xFF] ^ kTables[6][(low >> 8) & 0xFF] ^
            kTables[5][(low >> 16) & 0xFF] ^ kTables[4][low >> 24] ^ kTables[3][high & 0xFF] ^
            kTables[2][(high >> 8) & 0xFF] ^ kTables[1][(high >> 16) & 0xFF] ^
            kTables[0][high >> 24];
    bytes.remove_prefix(kSlices);
  }
  for (const char byte : bytes) {
    value = (value >> 8) ^ kTables[0][(value ^ static_cast<unsigned char>(byte)) & 0xFF];
  }
  return ~value;
}

}  // namespace dlcheck
