#include "reference/training/data_digest.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <string>

namespace dlcheck::reference {
namespace {

TEST(DigestOfFile, ChangesWithTheMiddleOfALargeFile) {
  constexpr std::streamoff kMebibyte = 1 << 20, kAll = 200;
  const std::string path = testing::TempDir() + "/large";
  {
    std::ofstream file(path, std::ios::binary);
    file.seekp(kAll * kMebibyte - 1);
    file.put(0);
  }
  const std::string before = DigestOfFile(path);
  EXPECT_EQ(DigestOfFile(path), before);
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(kAll / 2 * kMebibyte);
  file << std::string(4 * kMebibyte, 'x');
  file.close();
  EXPECT_NE(DigestOfFile(path), before);
  std::remove(path.c_str());
}

}  // namespace
}  // namespace dlcheck::reference
