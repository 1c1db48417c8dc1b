// A folder of checkpoints, each a folder of its own that is there whole or not at all: files are
// written under another name, synced and then renamed. A process that is killed at any moment
// leaves every earlier checkpoint as it was.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "reference/checkpoint/manifest.h"
#include "reference/checkpoint/tensor_file.h"

namespace dlcheck::reference {

// The file of a checkpoint that holds all its tensors; of many ranks, those of the first.
inline constexpr char kStateFile[] = "state.safetensors";
// Of another rank: what differs there. Rank 0 has kStateFile.
std::string FileOfRank(int64_t rank);

// Writes tensors into a folder and waits for the disk. Errors: SavingFailed.
Manifest::File WriteStateFile(const std::string& folder, const std::string& name,
                              const NamedTensors& state);

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

  // In this order one is written: the first rank makes a folder, all write their files into it, and
  // the first makes it a checkpoint, in the place of one of the same step, or gives it up. Only
  // Commit needs the files in `manifest`.
  void Begin(const Manifest& manifest) const;  // Errors: SavingFailed.
  std::string FolderToWrite(const Manifest& manifest) const;
  std::string Commit(const Manifest& manifest) const;  // Returns its path. Errors: SavingFailed.
  void Abandon(const Manifest& manifest) const;

  // The newest checkpoint, with all its bytes checked, as `rank` has it: with its own file's in the
  // place of the parts that `own` names. Errors: InputRejected if the newest is broken or its
  // recipe is not `recipe`; none is passed over in silence.
  struct Loaded {
    std::string path;
    Manifest manifest;
    std::map<std::string, torch::Tensor> state;
  };
  using Deciding = std::map<std::string, std::string>;
  std::optional<Loaded> Newest(const Deciding& recipe, int64_t rank = 0,
                               const std::set<std::string>& own = {}) const;

  // Removes all but the newest `last` and those of the steps `kept`. Never fails: what cannot be
  // removed stays.
  void Prune(int64_t last, const std::vector<int64_t>& kept) const;

 private:
  Loaded Load(const Place& place, const Deciding& recipe, int64_t rank,
              const std::set<std::string>& own) const;
  void Remove(const std::string& name) const;

  std::string path_;
};

}  // namespace dlcheck::reference
