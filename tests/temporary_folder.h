// A folder of a test's own that is gone when the test ends.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace dlcheck {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "dlcheck-test-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
    // Other users may look in, as one test's child does.
    std::filesystem::permissions(path_, std::filesystem::perms(0755));
  }
  ~TemporaryFolder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace dlcheck
