#include "diagnostics/cli/places.h"

#include <filesystem>

#include "checks/engine/text.h"

namespace dlcheck::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSelf = "/proc/self/exe";

}  // namespace

std::string SiblingBinary(const std::string& name) {
  std::error_code error;
  return (fs::read_symlink(kSelf, error).parent_path() / name).string();
}

std::string ShareFolder(const std::string& name) {
  std::error_code error;
  const fs::path self = fs::read_symlink(kSelf, error);
  return (self.parent_path().parent_path() / "share" / "dlcheck" / name).string();
}

absl::StatusOr<std::string> PythonFolder() {
  std::error_code error;
  const fs::path self = fs::read_symlink(kSelf, error);
  if (error) return absl::UnavailableError(StrCat("cannot read '", kSelf, "': ", error.message()));
  const fs::path folder = self.parent_path().parent_path() / "share" / "dlcheck" / "python";
  const fs::path boot = folder / "boot" / "sitecustomize.py";
  if (fs::exists(boot, error)) return folder.string();
  const std::string why = error ? error.message() : "it is not there";
  return absl::NotFoundError(StrCat("cannot find '", boot.string(), "': ", why));
}

}  // namespace dlcheck::cli
