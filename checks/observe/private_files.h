// What an experiment writes, it writes to copies: every folder at the top of the file system
// becomes a layer over itself, seen by the experiment and its children alone. Linux only, by mount
// namespaces and overlayfs, and only where the system allows an ordinary user both; elsewhere
// nothing changes, and the probes redirect what the program's own language writes.
#pragma once

#include <string>
#include <vector>

namespace dlcheck {

class PrivateFiles {
 public:
  // Works out what is to be done, and makes the folder that takes what is written. `kept`, an
  // absolute folder, stays the real one. Empty where there is no place for such a folder.
  static PrivateFiles Plan(const std::string& kept);

  // In a child, between fork and exec: system calls only. Leaves all as it is where it is not
  // allowed.
  void Enter() const;

  // Once the child is gone: the paths of the files that were written, `most` at the most, all of
  // which are removed with what else was kept of them.
  std::vector<std::string> Clear(size_t most) const;

 private:
  struct Layer {
    std::string target;     // an absolute folder
    std::string folder;     // with `up`, what is written, and `work`, the kernel's own
    std::string options;    // of the mount; empty: no layer here, only what is mounted comes back
    bool is_mounted_below;  // on a folder that an earlier layer hides, so that it comes back first
  };

  void Add(const std::string& target, bool is_mounted_below, bool is_layer);
  void AddMountsBelow();

  std::vector<Layer> layers_;
  std::string folder_, kept_, working_folder_, user_map_, group_map_;
};

}  // namespace dlcheck
