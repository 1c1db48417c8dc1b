#include "reference/training/shared_checkpoint.h"

#include <functional>
#include <utility>
#include <vector>

#include "reference/checkpoint/durable_file.h"

namespace dlcheck::reference {
namespace {

constexpr char kWell = '+', kFailed = '-';

// What `work` gives on each rank, by rank; where it fails on one, it has failed on all.
std::vector<std::string> OnAll(const Ranks& ranks, const std::function<std::string()>& work) {
  std::string own;
  try {
    own = kWell + work();
  } catch (const SavingFailed& failure) {
    own = kFailed + std::string(failure.what());
  }
  std::vector<std::string> told = ranks.Texts(own);
  for (size_t rank = 0; rank < told.size(); ++rank) {
    const std::string text = told[rank].substr(1);
    if (told[rank].front() == kWell) {
      told[rank] = text;
    } else if (!ranks.are_many()) {
      throw SavingFailed(text);
    } else {
      throw SavingFailed("rank " + std::to_string(rank) + ": " + text);
    }
  }
  return told;
}

// As "BYTES SHA256".
std::string Told(const Manifest::File& file) {
  return std::to_string(file.bytes) + " " + file.sha256;
}

Manifest::File FileTold(const std::string& text) {
  const size_t cut = text.find(' ');
  return {std::stoull(text.substr(0, cut)), text.substr(cut + 1)};
}

}  // namespace

std::string WriteTogether(const Ranks& ranks, const CheckpointFolder& folder, Manifest manifest,
                          const NamedTensors& state) {
  try {
    OnAll(ranks, [&] {
      if (ranks.is_first()) folder.Begin(manifest);
      return std::string();
    });
    const std::vector<std::string> files = OnAll(ranks, [&] {
      return Told(WriteStateFile(folder.FolderToWrite(manifest), FileOfRank(ranks.rank()), state));
    });
    for (size_t rank = 0; rank < files.size(); ++rank) {
      manifest.files[FileOfRank(static_cast<int64_t>(rank))] = FileTold(files[rank]);
    }
    return OnAll(ranks, [&] { return ranks.is_first() ? folder.Commit(manifest) : ""; }).front();
  } catch (const SavingFailed&) {
    if (ranks.is_first()) folder.Abandon(manifest);
    throw;
  }
}

}  // namespace dlcheck::reference
