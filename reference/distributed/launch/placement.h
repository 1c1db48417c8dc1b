// Which rank of how many this process is, as whoever started it says in the environment: torchrun,
// dlcheck-train itself, Slurm or an MPI.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace dlcheck::reference {

struct Placement {
  int64_t rank = 0;
  int64_t world = 1;
  bool is_one_machine = true;
  // Where the ranks find each other.
  std::string address;
  uint16_t port = 0;
  // The first rank serves there; else torchrun does, or, with a listening socket that was left
  // open for it, the first rank on that.
  bool is_served_elsewhere = false;
  std::optional<int> listening;  // file descriptor
  // Tells the ranks of a restarted run from those of the one before.
  std::string attempt;
};

// A variable of the environment; none if it is not set.
using Environment = std::function<std::optional<std::string>(const char* name)>;
std::optional<std::string> ProcessEnvironment(const char* name);

// Whether whoever started this process says so.
bool IsPlaced(const Environment& environment);

// The rank as whoever started this process wrote it; none for one that is alone.
std::optional<std::string> RankIn(const Environment& environment);

// None where nobody says so. RANK and WORLD_SIZE are read first, then SLURM_PROCID and
// SLURM_NTASKS, OMPI_COMM_WORLD_RANK and _SIZE, PMI_RANK and PMI_SIZE; MASTER_ADDR and MASTER_PORT
// beside each of them.
//
// Errors: UsageError that names the variable.
std::optional<Placement> PlacementFrom(const Environment& environment);

}  // namespace dlcheck::reference
