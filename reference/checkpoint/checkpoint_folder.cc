#include "reference/checkpoint/checkpoint_folder.h"

#include <algorithm>
#include <cstdio>
#include <set>
#include <string_view>

#include "reference/checkpoint/durable_file.h"
#include "reference/checkpoint/sha256.h"
#include "reference/recipe/rejection.h"

namespace dlcheck::reference {
namespace {

constexpr char kManifestFile[] = "manifest.json";
constexpr std::string_view kUnfinished = ".unfinished";
constexpr std::string_view kRemoved = ".removed";

std::string NameOf(const Manifest& manifest) {
  char name[64];
  std::snprintf(name, sizeof(name), "step-%09lld", static_cast<long long>(manifest.step));
  return manifest.micro == 0 ? name
                             : name + std::string("-micro-") + std::to_string(manifest.micro);
}

bool IsNumber(std::string_view text) {
  return !text.empty() && text.size() <= 18 &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Exactly what NameOf gives, so that nothing else in the folder is ever taken for a checkpoint.
std::optional<CheckpointFolder::Place> PlaceOf(const std::string& name) {
  constexpr std::string_view kStep = "step-", kMicro = "-micro-";
  if (name.rfind(kStep, 0) != 0) return std::nullopt;
  const size_t cut = name.find(kMicro);
  const std::string step = name.substr(kStep.size(), cut - kStep.size());
  const std::string micro = cut == std::string::npos ? "0" : name.substr(cut + kMicro.size());
  if (!IsNumber(step) || !IsNumber(micro)) return std::nullopt;
  CheckpointFolder::Place place{std::stoll(step), std::stoll(micro), name};
  Manifest manifest;
  manifest.step = place.step;
  manifest.micro = place.micro;
  return NameOf(manifest) == name ? std::optional(place) : std::nullopt;
}

bool EndsIn(const std::string& name, std::string_view ending) {
  return name.size() > ending.size() &&
         name.compare(name.size() - ending.size(), ending.size(), ending) == 0;
}

// In the order of their steps.
std::vector<CheckpointFolder::Place> PlacesAmong(const std::vector<std::string>& names) {
  std::vector<CheckpointFolder::Place> places;
  for (const std::string& name : names) {
    const std::optional<CheckpointFolder::Place> place = PlaceOf(name);
    if (place) places.push_back(*place);
  }
  std::sort(places.begin(), places.end());
  return places;
}

// Whether a process that was killed left this behind.
bool IsLeftover(const std::string& name) {
  for (const std::string_view ending : {kUnfinished, kRemoved}) {
    if (EndsIn(name, ending) && PlaceOf(name.substr(0, name.size() - ending.size()))) return true;
  }
  return false;
}

}  // namespace

std::vector<CheckpointFolder::Place> CheckpointFolder::List() const {
  return PlacesAmong(NamesIn(path_));
}

std::string FileOfRank(int64_t rank) {
  return rank == 0 ? kStateFile : "rank-" + std::to_string(rank) + ".safetensors";
}

Manifest::File WriteStateFile(const std::string& folder, const std::string& name,
                              const NamedTensors& state) {
  const std::string bytes = TensorFileBytes(state);
  WriteDurably(folder + "/" + name, bytes);
  return {bytes.size(), Sha256(bytes)};
}

std::string CheckpointFolder::FolderToWrite(const Manifest& manifest) const {
  return path_ + "/" + NameOf(manifest) + std::string(kUnfinished);
}

void CheckpointFolder::Begin(const Manifest& manifest) const {
  MakeFolders(path_);
  RemoveFolder(FolderToWrite(manifest));  // of a process that was killed
  MakeFolder(FolderToWrite(manifest));
}

std::string CheckpointFolder::Commit(const Manifest& manifest) const {
  const std::string unfinished = FolderToWrite(manifest);
  const std::string final_path = path_ + "/" + NameOf(manifest);
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

// A full disk needs the room.
void CheckpointFolder::Abandon(const Manifest& manifest) const {
  RemoveFolder(FolderToWrite(manifest));
}

namespace {

// The tensors of one file that the manifest lists, with all its bytes checked.
std::map<std::string, torch::Tensor> TensorsOfFile(const std::string& folder,
                                                   const Manifest& manifest,
                                                   const std::string& name) {
  const auto listed = manifest.files.find(name);
  if (listed == manifest.files.end()) {
    throw InputRejected(folder, "has a manifest that does not list " + name);
  }
  const std::string path = folder + "/" + name;
  const std::string bytes = ReadWhole(path);
  if (bytes.size() != listed->second.bytes) {
    throw InputRejected(path, "has " + std::to_string(bytes.size()) + " bytes instead of " +
                                  std::to_string(listed->second.bytes));
  }
  if (Sha256(bytes) != listed->second.sha256) {
    throw InputRejected(path, "was changed since it was written: its SHA-256 does not fit");
  }
  return TensorsOf(path, bytes);
}

std::string PartOf(const std::string& name) { return name.substr(0, name.find('/')); }

}  // namespace

CheckpointFolder::Loaded CheckpointFolder::Load(const Place& place, const Deciding& recipe,
                                                int64_t rank,
                                                const std::set<std::string>& own) const {
  Loaded loaded;
  loaded.path = path_ + "/" + place.name;
  loaded.manifest = ReadManifest(loaded.path + "/" + kManifestFile);
  RefuseOtherRecipe(loaded.path, loaded.manifest, recipe);
  loaded.state = TensorsOfFile(loaded.path, loaded.manifest, kStateFile);
  if (rank == 0) return loaded;
  std::erase_if(loaded.state, [&](const auto& entry) { return own.count(PartOf(entry.first)); });
  loaded.state.merge(TensorsOfFile(loaded.path, loaded.manifest, FileOfRank(rank)));
  return loaded;
}

std::optional<CheckpointFolder::Loaded> CheckpointFolder::Newest(
    const Deciding& recipe, int64_t rank, const std::set<std::string>& own) const {
  const std::vector<Place> places = List();
  if (places.empty()) return std::nullopt;
  try {
    return Load(places.back(), recipe, rank, own);
  } catch (const InputRejected& rejected) {
    if (places.size() == 1) throw;
    throw InputRejected(rejected.file, rejected.cause + "; the one before it, " +
                                           places[places.size() - 2].name +
                                           ", is untouched: remove this one to go on from that");
  }
}

// Renamed first, so that a checkpoint that is half removed does not look complete.
void CheckpointFolder::Remove(const std::string& name) const {
  const std::string path = path_ + "/" + name, going = path + std::string(kRemoved);
  RemoveFolder(going);
  if (std::rename(path.c_str(), going.c_str()) == 0) RemoveFolder(going);
}

void CheckpointFolder::Prune(int64_t last, const std::vector<int64_t>& kept) const {
  std::vector<std::string> names;
  try {
    names = NamesIn(path_);
  } catch (const InputRejected&) {
    return;  // training goes on, and the next save tidies
  }
  for (const std::string& name : names) {
    if (IsLeftover(name)) RemoveFolder(path_ + "/" + name);
  }
  const std::vector<Place> places = PlacesAmong(names);
  const std::set<int64_t> best(kept.begin(), kept.end());
  const auto count = static_cast<int64_t>(places.size());
  for (int64_t i = 0; i < count - last; ++i) {
    const Place& place = places[static_cast<size_t>(i)];
    const bool is_best = place.micro == 0 && best.count(place.step) > 0;
    if (!is_best && Exists(path_ + "/" + place.name + "/" + kManifestFile)) Remove(place.name);
  }
}

}  // namespace dlcheck::reference
