// Batches that entered models in training, with the loader each came from, and the order of data.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "checks/engine/trace.h"

namespace dlcheck {

struct Batches {
  static constexpr std::string_view kName = "batches";
  using Digest = std::pair<double, double>;  // upper and lower half
  struct Loader {
    std::string name;
    std::string order;   // sequential, random, distributed or other
    double samples = 0;  // of its data set; 0 if unknown
    double batch_size = 0;
    double same_start = 0;  // most iterations that began with one state of the generator
  };
  // What a loader handed out, before the program changed it.
  struct HandedOut {
    int64_t step = 0;
    int64_t place = 0;   // in its iteration
    Digest fingerprint;  // of its last tensor, often the targets
  };
  // A batch handed out since the one before it was used, or since the step began.
  struct Fetch {
    ThingId loader = 0;
    int64_t place = 0;  // in its iteration
    double samples = 0;
  };
  struct Batch {
    int64_t step = 0;
    std::string model;
    double size = 0;               // first dimension of the input
    std::optional<Fetch> fetched;  // the last before it; none if none came since the batch before
    std::optional<Digest> fingerprint;
  };
  std::vector<Batch> batches;  // of sampled steps, in order
  std::map<ThingId, Loader> loaders;
  std::map<ThingId, std::vector<HandedOut>> handed_out;  // by loader, of sampled steps
  std::map<int64_t, std::vector<Fetch>> fetches;         // by sampled step
  std::string declared_shuffle;                          // the program's own word: 1, 0 or none

  // Of the first process. Errors: NotFound if no batch was observed.
  static absl::StatusOr<Batches> From(const Run& run);
};

// What the batches of one loader show of its order: the places at which a batch was seen in several
// iterations, and whether it was the same every time.
struct OrderOfData {
  int64_t places = 0;      // seen at least `times` times
  int64_t iterations = 0;  // the most times a place was seen
  bool same = false;       // at each place always the same batch, and not one for all places
  int64_t first_step = 0, last_step = 0;
};

// Looks at what entered models, or else at what the loader handed out; `times` >= 2.
OrderOfData OrderOf(const Batches& batches, ThingId loader, int64_t times);

}  // namespace dlcheck
