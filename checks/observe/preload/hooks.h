// What the functions that stand in the place of LibTorch's share: each tells the watcher, if there
// is one, and calls the original with the same arguments. Their types are those of the originals in
// the ABI: a member function takes its object first.
#pragma once

#include "checks/observe/preload/entries.h"
#include "checks/observe/preload/watcher.h"

namespace dlcheck {

// By entry; null until the gate asks for its hook.
void** Originals();

template <typename Function>
Function* OriginalOf(Entry entry) {
  return reinterpret_cast<Function*>(Originals()[static_cast<int>(entry)]);
}

// Tells the watcher, if this call is to be looked at. No exception reaches the program; after one,
// nothing is watched any more.
template <typename Call>
void Tell(const Call& call) {
  Watcher* watcher = Watcher::Here();
  if (watcher == nullptr) return;
  try {
    call(*watcher);
  } catch (...) {
    Watcher::EndAll();
  }
}

// How deep a call lies in calls of the same function, as a module's for each of its children.
class Depth {
 public:
  explicit Depth(int& depth) : depth_(&depth) { ++*depth_; }
  ~Depth() { --*depth_; }
  Depth(const Depth&) = delete;
  Depth& operator=(const Depth&) = delete;
  bool is_outermost() const { return *depth_ == 1; }

 private:
  int* depth_;
};

template <typename Function>
void* Address(Function* function) {
  return reinterpret_cast<void*>(function);
}

// The hook of an entry that writes or reads an archive; null for any other.
void* ArchiveHookOf(Entry entry);
// The same of an entry that chooses the samples of a data loader.
void* SamplerHookOf(Entry entry);

}  // namespace dlcheck
