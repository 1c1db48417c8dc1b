// What an experiment writes, it writes to copies: every folder at the top of the file system
// becomes a layer over itself, seen by the experiment and its children alone. Linux only, by mount
// namespaces and overlayfs, and only where the system allows an ordinary user both; elsewhere
// nothing changes, and the probes redirect what the program's own language writes.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

namespace dlcheck {

class PrivateFiles {
 public:
  // Works out what is to be done, and makes the folders that take what is written. Empty where
  // there is no place for such a folder. Several processes may enter, one after the other: a later
  // one finds what the earlier wrote.
  static PrivateFiles Plan();

  // Paths that processes which enter from now on do not find, a folder after what it holds; only
  // where all is private, which it is not if one of them lies where no layer is planned.
  void Hide(std::vector<std::string> paths);

  // Processes that enter from now on find in `target` what `source` holds; only where all is
  // private.
  void Replace(std::string target, std::string source);

  // In a child, between fork and exec: system calls only. `kept`, an absolute folder, stays the
  // real one. True if all is private that the child may write, but for temporary file systems of
  // the kernel (/dev/shm, /run) and for the system's own folders. What is not allowed is left out.
  bool Enter(const char* kept) const;

  // Whether nothing was written by those that entered, but caches of compiled Python.
  bool AreUntouched() const;

  // Once all children are gone: the paths of the files that were written, `most` at the most, all
  // of which are removed with what else was kept of them.
  std::vector<std::string> Clear(size_t most) const;

 private:
  struct Layer {
    std::string target;     // an absolute folder
    std::string folder;     // with `up`, what is written, and `work`, the kernel's own
    std::string options;    // of the mount; empty: no layer here, only what is mounted comes back
    bool is_mounted_below;  // on a folder that an earlier layer hides, so that it comes back first
  };

  void ChoosePlaces();
  void Hold(const std::string& folder);
  void Add(const std::string& target, bool is_mounted_below, bool is_layer);
  void AddMountsBelow();
  bool HasLayer(const std::string& path) const;
  bool ChangeFiles() const;
  bool MountLayers(bool is_superuser, bool* mounted) const;
  bool CanWrite() const;
  std::vector<std::string> Written() const;

  std::vector<Layer> layers_;
  // The second takes what is written over the place of the first.
  std::array<std::string, 2> folders_;
  // Descriptors of both, locked while somebody uses them.
  std::vector<std::shared_ptr<const int>> held_;
  std::vector<std::string> hidden_;
  std::string replaced_, replacement_;  // files; empty: none
  std::string working_folder_, user_map_, group_map_;
  bool is_whole_ = true;         // no layer is missing in the plan
  bool hides_in_layers_ = true;  // all of `hidden_`
  bool replaces_in_layer_ = true;
};

}  // namespace dlcheck
