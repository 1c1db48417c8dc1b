#include "reference/checkpoint/checkpoint_folder.h"

#include <algorithm>
#include <cstdio>
#include <set>

#include "reference/checkpoint/durable_file.h"
#include "reference/checkpoint/sha256.h"
#include "reference/recipe/rejection.h"

namespace dlcheck::reference {
namespace {

constexpr char kManifestFile[] = "manifest.json";
constexpr char kUnfinished[] = ".unfinished";
constexpr char kRemoved[] = ".removed";

std::string NameOf(const Manifest& manifest) {
  char name[64];
  std::snprintf(name, sizeof(name), "step-%09lld", static_cast<long long>(manifest.step));
  return manifest.micro == 0 ? name
                             : name + std::string("-micro-") + std::to_string(manifest.micro);
}

std::optional<CheckpointFolder::Place> PlaceOf(const std::string& name) {
  long long step = 0, micro = 0;
  int read = 0;
  if (std::sscanf(name.c_str(), "step-%9lld%n", &step, &read) != 1) return std::nullopt;
  const std::string rest = name.substr(static_cast<size_t>(read));
  if (!rest.empty()) {
    int end = 0;
    if (std::sscanf(rest.c_str(), "-micro-%lld%n", &micro, &end) != 1 ||
        static_cast<size_t>(end) != rest.size()) {
      return std::nullopt;
    }
  }
  return CheckpointFolder::Place{step, micro, name};
}

}  // namespace

std::vector<CheckpointFolder::Place> CheckpointFolder::List() const {
  std::vector<Place> places;
  for (const std::string& name : NamesIn(path_)) {
    const std::optional<Place> place = PlaceOf(name);
    if (place) places.push_back(*place);
  }
  std::sort(places.begin(), places.end());
  return places;
}

std::string CheckpointFolder::Write(Manifest manifest, const NamedTensors& state) const {
  const std::string name = NameOf(manifest);
  const std::string final_path = path_ + "/" + name;
  const std::string unfinished = final_path + kUnfinished;
  MakeFolders(path_);
  RemoveFolder(unfinished);  // of a process that was killed
  const std::string bytes = TensorFileBytes(state);
  manifest.files = {{kStateFile, {bytes.size(), Sha256(bytes)}}};
  MakeFolder(unfinished);
  WriteDurably(unfinished + "/" + kStateFile, bytes);
  WriteDurably(unfinished + "/" + kManifestFile, ManifestText(manifest));
  SyncFolder(unfinished);
  if (Exists(final_path)) {
    Exchange(unfinished, final_path);  // so that at no moment there is none
  } else {
    Rename(unfinished, final_path);
  }
  SyncFolder(path_);
  RemoveFolder(unfinished);
  return final_path;
}

CheckpointFolder::Loaded CheckpointFolder::Load(const Place& place, const Recipe& recipe) const {
  Loaded loaded;
  loaded.path = path_ + "/" + place.name;
  loaded.manifest = ReadManifest(loaded.path + "/" + kManifestFile);
  RefuseOtherRecipe(loaded.path, loaded.manifest, recipe);
  const auto listed = loaded.manifest.files.find(kStateFile);
  const std::string state_path = loaded.path + "/" + kStateFile;
  if (listed == loaded.manifest.files.end()) {
    throw InputRejected(loaded.path,
                        "has a manifest that does not list " + std::string(kStateFile));
  }
  const std::string bytes = ReadWhole(state_path);
  if (bytes.size() != listed->second.bytes) {
    throw InputRejected(state_path, "has " + std::to_string(bytes.size()) + " bytes instead of " +
                                        std::to_string(listed->second.bytes));
  }
  if (Sha256(bytes) != listed->second.sha256) {
    throw InputRejected(state_path, "was changed since it was written: its SHA-256 does not fit");
  }
  loaded.state = TensorsOf(state_path, bytes);
  return loaded;
}

std::optional<CheckpointFolder::Loaded> CheckpointFolder::Newest(const Recipe& recipe) const {
  const std::vector<Place> places = List();
  if (places.empty()) return std::nullopt;
  try {
    return Load(places.back(), recipe);
  } catch (const InputRejected& rejected) {
    if (places.size() == 1) throw;
    throw InputRejected(rejected.file, rejected.cause + "; the one before it, " +
                                           places[places.size() - 2].name + ", is untouched");
  }
}

// Renamed first, so that a checkpoint that is half removed does not look complete.
void CheckpointFolder::Remove(const std::string& name) const {
  const std::string path = path_ + "/" + name, going = path + kRemoved;
  RemoveFolder(going);
  if (std::rename(path.c_str(), going.c_str()) == 0) RemoveFolder(going);
}

void CheckpointFolder::Prune(int64_t last, const std::vector<int64_t>& kept) const {
  const std::vector<Place> places = List();
  const std::set<int64_t> best(kept.begin(), kept.end());
  const auto count = static_cast<int64_t>(places.size());
  for (int64_t i = 0; i < count - last; ++i) {
    const Place& place = places[static_cast<size_t>(i)];
    if (place.micro == 0 && best.count(place.step) > 0) continue;
    Remove(place.name);
  }
}

}  // namespace dlcheck::reference
