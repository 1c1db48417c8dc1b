// The RNG state of each DataLoader worker as an iteration began.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "checks/engine/trace.h"

namespace dlcheck {

struct WorkerStreams {
  static constexpr std::string_view kName = "random streams of workers";
  struct Stream {
    std::string generator;  // numpy, python or torch
    int worker = 0;
    int rank = 0;
    std::vector<std::pair<double, double>> states;  // digests, by iteration
  };
  std::vector<Stream> streams;
  // Some loader reads a stream of unknown length, whose workers may have to agree on its order.
  bool reads_iterables = false;
  bool seeds_again = false;  // the program set a seed after its first step

  // Of all processes, as workers are processes of their own. Errors: NotFound if no worker drew a
  // random number.
  static absl::StatusOr<WorkerStreams> From(const Run& run);
};

}  // namespace dlcheck
