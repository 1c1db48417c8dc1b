// What one model was trained on: its batches by step, and those of them that a loader with several
// batches gave.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "checks/signals/data/batches.h"

namespace dlcheck {

struct BatchesOfModel {
  // Steps right after another sampled one, and how many of them trained on the same batch again.
  struct Neighbors {
    int64_t all = 0, same = 0;
  };
  std::set<Batches::Digest> different;
  std::map<int64_t, Batches::Digest> first;  // by step
  // Of batches that came unchanged from a loader with at least twice as many samples.
  std::set<int64_t> steps, places;
  ThingId loader = 0;  // 0 where none gave one
  double samples = 0;
  bool fed = false;  // such a loader gave batches, whatever became of them

  Neighbors Neighboring() const;
};

// By the model's name. Looks at batches with a fingerprint.
std::map<std::string, BatchesOfModel> ByModel(const Batches& batches);

}  // namespace dlcheck
