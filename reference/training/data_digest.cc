#include "reference/training/data_digest.h"

#include <algorithm>
#include <cerrno>
#include <fstream>

#include "reference/checkpoint/sha256.h"
#include "reference/recipe/rejection.h"

namespace dlcheck::reference {

std::string DigestOfFile(const std::string& path) {
  constexpr std::streamoff kEnd = std::streamoff{32} << 20;
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) throw InputRejected(path, errno == ENOENT ? "no such file" : "cannot be read");
  const std::streamoff size = file.tellg();
  std::string bytes(static_cast<size_t>(std::min(size, 2 * kEnd)), '\0');
  file.seekg(0);
  if (size <= 2 * kEnd) {
    file.read(bytes.data(), size);
  } else {
    file.read(bytes.data(), kEnd);
    file.seekg(-kEnd, std::ios::end);
    file.read(bytes.data() + kEnd, kEnd);
  }
  if (!file) throw InputRejected(path, "cannot be read");
  return std::to_string(size) + " bytes, " + Sha256(bytes);
}

}  // namespace dlcheck::reference
