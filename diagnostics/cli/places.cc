#include "diagnostics/cli/places.h"

#include <filesystem>

namespace dlcheck::cli {
namespace {

std::filesystem::path BinaryFolder() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
}

}  // namespace

std::string SiblingBinary(const std::string& name) { return (BinaryFolder() / name).string(); }

std::string PythonFolder() {
  const std::filesystem::path folder =
      BinaryFolder().parent_path() / "share" / "dlcheck" / "python";
  std::error_code error;
  if (!std::filesystem::exists(folder / "boot" / "sitecustomize.py", error)) return "";
  return folder.string();
}

}  // namespace dlcheck::cli
