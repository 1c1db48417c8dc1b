// A folder of checkpoints, each a folder of its own that is there whole or not at all: files are
// written under another name, synced and then renamed. A process that is killed at any moment
// leaves every earlier checkpoint as it was.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reference/checkpoint/manifest.h"
#include "reference/checkpoint/tensor_file.h"

namespace dlcheck::reference {

// The file of a checkpoint that holds all its tensors.
inline constexpr char kStateFile[] = "state.safetensors";

class CheckpointFolder {
 public:
  explicit CheckpointFolder(std::string path) : path_(std::move(path)) {}

  struct Place {
    int64_t step;
    int64_t micro;
    std::string name;  // of the checkpoint's folder
    bool operator<(const Place& other) const {
      return step != other.step ? step < other.step : micro < other.micro;
    }
  };
  // Complete checkpoints, oldest first; empty if there is no such folder. Errors: InputRejected if
  // the folder is no folder.
  std::vector<Place> List() const;

  // Writes one and returns its path. `manifest` needs no files. One of the same place is replaced.
  // Errors: SavingFailed; then what was there is untouched.
  std::string Write(Manifest manifest, const NamedTensors& state) const;

  // The newest checkpoint, with all its bytes checked. Errors: InputRejected if the newest is
  // broken or its recipe is not `recipe`; none is passed over in silence.
  struct Loaded {
    std::string path;
    Manifest manifest;
    std::map<std::string, torch::Tensor> state;
  };
  using Deciding = std::map<std::string, std::string>;
  std::optional<Loaded> Newest(const Deciding& recipe) const;

  // Removes all but the newest `last` and those of the steps `kept`. Never fails: what cannot be
  // removed stays.
  void Prune(int64_t last, const std::vector<int64_t>& kept) const;

 private:
  Loaded Load(const Place& place, const Deciding& recipe) const;
  void Remove(const std::string& name) const;

  std::string path_;
};

}  // namespace dlcheck::reference
