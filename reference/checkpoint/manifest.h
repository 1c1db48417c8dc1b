// What a checkpoint says about itself: where the run stood, the recipe it followed, and the digest
// of each file. A JSON file that holds a digest of its own, so that a flipped bit shows anywhere.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "reference/recipe/recipe.h"

namespace dlcheck::reference {

struct Manifest {
  int64_t step = 0;                           // steps that are done
  int64_t micro = 0;                          // micro-batches that are done of the next one
  std::map<std::string, std::string> recipe;  // the keys that decide how training goes on
  struct File {
    uint64_t bytes;
    std::string sha256;
  };
  std::map<std::string, File> files;
};

// The keys whose values a resumed run must share with the one that it goes on from. Steps count
// only where the schedule is spread over them. The path of the data is not among them: files move.
std::map<std::string, std::string> DecidingKeys(const Recipe& recipe);

std::string ManifestText(const Manifest& manifest);

// Errors: InputRejected with `path`.
Manifest ReadManifest(const std::string& path);

// Errors: InputRejected with `path` that names the first key of `wanted` that differs, and both
// values.
void RefuseOtherRecipe(const std::string& path, const Manifest& manifest,
                       const std::map<std::string, std::string>& wanted);

}  // namespace dlcheck::reference
