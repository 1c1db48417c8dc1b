#include "reference/distributed/launch/placement.h"

#include <charconv>
#include <cstdlib>

#include "reference/recipe/rejection.h"

namespace dlcheck::reference {
namespace {

struct Starter {
  const char* rank;
  const char* world;
  const char* local_world;
  bool starts_one_too;  // a world of one is one of ranks: torchrun; else it is a run alone
};

constexpr Starter kStarters[] = {
    {"RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", true},
    {"SLURM_PROCID", "SLURM_NTASKS", "SLURM_NTASKS_PER_NODE", false},
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE", false},
    {"PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS", false},
};

// None for a process that is alone.
const Starter* StarterIn(const Environment& environment) {
  for (const Starter& starter : kStarters) {
    if (!environment(starter.rank) || !environment(starter.world)) continue;
    return environment(starter.world) == "1" && !starter.starts_one_too ? nullptr : &starter;
  }
  return nullptr;
}

int64_t Number(const char* name, const std::string& text, int64_t low, int64_t high) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size() && number >= low && number <= high) {
    return number;
  }
  throw UsageError(std::string(name) + " is '" + text + "', but a whole number from " +
                   std::to_string(low) + " to " + std::to_string(high) + " is needed");
}

std::string Needed(const Environment& environment, const char* name) {
  if (std::optional<std::string> text = environment(name)) return *text;
  throw UsageError(
      std::string(name) +
      " is not set, by which the ranks find each other: torchrun sets it; where Slurm or "
      "an MPI starts them, set it to the first one's");
}

Placement PlacementBy(const Starter& starter, const Environment& environment) {
  constexpr int64_t kMostRanks = 100000;
  Placement placement;
  placement.world = Number(starter.world, Needed(environment, starter.world), 1, kMostRanks);
  placement.rank = Number(starter.rank, Needed(environment, starter.rank), 0, placement.world - 1);
  placement.address = Needed(environment, "MASTER_ADDR");
  constexpr int64_t kMostPort = 65535;
  placement.port = static_cast<uint16_t>(
      Number("MASTER_PORT", Needed(environment, "MASTER_PORT"), 1, kMostPort));
  const std::optional<std::string> local = environment(starter.local_world);
  placement.is_one_machine = local && *local == std::to_string(placement.world);
  placement.is_served_elsewhere =
      environment("TORCHELASTIC_USE_AGENT_STORE").value_or("") == "True";
  if (const auto attempt = environment("TORCHELASTIC_RESTART_COUNT")) placement.attempt = *attempt;
  if (const auto file = environment("DLCHECK_LISTENING"); file && placement.rank == 0) {
    constexpr int64_t kMostFiles = 1 << 20;
    placement.listening = static_cast<int>(Number("DLCHECK_LISTENING", *file, 0, kMostFiles));
  }
  return placement;
}

}  // namespace

std::optional<std::string> ProcessEnvironment(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? std::nullopt : std::optional<std::string>(text);
}

bool IsPlaced(const Environment& environment) { return StarterIn(environment) != nullptr; }

std::optional<std::string> RankIn(const Environment& environment) {
  const Starter* starter = StarterIn(environment);
  return starter == nullptr ? std::nullopt : environment(starter->rank);
}

std::optional<Placement> PlacementFrom(const Environment& environment) {
  const Starter* starter = StarterIn(environment);
  return starter == nullptr ? std::nullopt : std::optional(PlacementBy(*starter, environment));
}

}  // namespace dlcheck::reference
