#include "checks/records/digest.h"

#include <gtest/gtest.h>

#include <vector>

namespace dlcheck {
namespace {

std::vector<unsigned char> Bytes(size_t size) {
  std::vector<unsigned char> bytes(size);
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<unsigned char>(i * 37 + 11);
  return bytes;
}

TEST(Digest, ShowsEveryChangedBit) {
  auto bytes = Bytes(67);
  const uint64_t before = Digest(bytes.data(), bytes.size());
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    bytes[bit / 8] ^= 1u << (bit % 8);
    EXPECT_NE(Digest(bytes.data(), bytes.size()), before) << "bit " << bit;
    bytes[bit / 8] ^= 1u << (bit % 8);
  }
}

TEST(Digest, ShowsTwoWordsThatChangedPlaces) {
  const uint64_t one[] = {1, 2}, other[] = {2, 1};
  EXPECT_NE(Digest(one, sizeof(one)), Digest(other, sizeof(other)));
}

TEST(Digest, AddsUpOverParts) {
  const auto bytes = Bytes(64);
  EXPECT_EQ(Digest(bytes.data(), 64), Digest(bytes.data(), 24) + Digest(bytes.data() + 24, 40, 3));
}

}  // namespace
}  // namespace dlcheck
