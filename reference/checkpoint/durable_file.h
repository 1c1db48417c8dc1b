// Files that are on the disk, and not only on their way to it, when a call returns. Each system
// call is checked; the first that fails ends the call with its name, its path and its reason.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace dlcheck::reference {

// Something could not be written. Nothing that was complete before is lost.
struct SavingFailed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Writes `bytes` to a new file and waits for the disk. Errors: SavingFailed.
void WriteDurably(const std::string& path, std::string_view bytes);

// Makes the names in a folder durable. Errors: SavingFailed.
void SyncFolder(const std::string& path);

// One folder, or all of a path; no error if it is there. Errors: SavingFailed.
void MakeFolder(const std::string& path);
void MakeFolders(const std::string& path);

void Rename(const std::string& from, const std::string& to);  // Errors: SavingFailed.

// Each takes the other's name, at one moment. Errors: SavingFailed.
void Exchange(const std::string& one, const std::string& other);

bool Exists(const std::string& path);

// The names in a folder, in no order; none if there is no such folder. Errors: InputRejected.
// POSIX, because LibTorch brings parts of std::filesystem of its own that crash in ours.
std::vector<std::string> NamesIn(const std::string& path);

// Removes a folder with its files, as far as that is possible; of a link, the link alone.
void RemoveFolder(const std::string& path);

// Keeps other runs out of a folder for as long as this lives; where the file system knows no locks
// it does nothing. Errors: SavingFailed if another has it, or it cannot be opened.
class FolderLock {
 public:
  explicit FolderLock(const std::string& path);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int number_;
};

// The bytes of a file. Errors: InputRejected.
std::string ReadWhole(const std::string& path);

}  // namespace dlcheck::reference
