#include "reference/training/data_digest.h"

#include <algorithm>
#include <cerrno>
#include <fstream>

#include "reference/checkpoint/sha256.h"
#include "reference/recipe/rejection.h"

namespace dlcheck::reference {

std::string DigestOfFile(const std::string& path) {
  constexpr std::streamoff kPiece = std::streamoff{1} << 20, kPieces = 64;
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) throw InputRejected(path, errno == ENOENT ? "no such file" : "cannot be read");
  const std::streamoff size = file.tellg(), whole = kPieces * kPiece;
  std::string bytes(static_cast<size_t>(std::min(size, whole)), '\0');
  if (size <= whole) {
    file.seekg(0);
    file.read(bytes.data(), size);
  }
  for (std::streamoff piece = 0; size > whole && piece < kPieces; ++piece) {
    file.seekg((size - kPiece) * piece / (kPieces - 1));
    file.read(bytes.data() + piece * kPiece, kPiece);
  }
  if (!file) throw InputRejected(path, "cannot be read");
  return std::to_string(size) + " bytes, " + Sha256(bytes);
}

}  // namespace dlcheck::reference
