// Replicated parameters on several ranks: whether their weights are equal, and the gradients that
// the ranks step with.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "checks/engine/trace.h"
#include "checks/signals/distributed/rank_groups.h"

namespace dlcheck {

struct Replicas {
  static constexpr std::string_view kName = "weights by process";
  struct State {
    int64_t step = 0;  // before which it is
    Ranks odd;         // members whose weights are others than those of most
  };
  struct Parameter {
    std::string name;
    bool after_wrapping = false;      // it became part of the model after that was wrapped
    bool frozen_at_wrapping = false;  // it took no gradients then, and does now
    ThingId optimizer = 0;            // that steps it; 0 where no gradient was seen
    // One process alone steps it and hands it round: it stays the same whatever gradients are.
    bool handed_round = false;
    std::string group;          // of parameters, in its optimizer; empty if it is not known
    std::vector<State> states;  // those known of all members; ascending
    // Of sampled steps in which all members had a gradient: how many, the last in which its norm
    // was the same on all but for rounding and not zero, -1 for none, and those in which it was
    // another one on some. Of gradients that are not meant to be the same, none.
    int64_t compared = 0, last_shared = -1;
    std::vector<State> unshared;

    // The first of the states that differ up to the end; null if there is none. Weights that come
    // together again and again were meant to part, as those of local steps: then null, unless they
    // are apart in the end for more than twice as long as ever before.
    const State* Parted() const;
    // A state that differs was followed by one that does not.
    bool CameTogether() const;
  };
  // Forward passes of the wrapper that shares gradients, in one step of one member.
  struct Forwards {
    int64_t step = 0;
    int passes = 0, sharing = 0;
    bool last_shares = false;
  };
  struct Group {
    std::string name;  // "0-3"
    Ranks members;     // two or more
    bool declared = false;
    bool of_pieces = false;  // of sharded tensors
    bool wrapped = false;    // by what shares gradients, as DistributedDataParallel
    std::vector<Parameter> parameters;
    std::vector<Forwards> forwards;  // of its lowest rank; empty if the wrapper ran in none
  };
  std::vector<Group> groups;
  // The program puts gradients together in a way of its own, or sends weights while it trains.
  bool own_sharing = false;
  // Processes tell each other more than gradients in their passes, as where each holds a part of
  // the model.
  bool speaks_in_passes = false;
  bool speaks_in_losses = false;  // where gradients are recorded, or in backward
  bool speaks_to_one = false;     // from one process to one, which may be weights
  // After their first step processes call operations together, or put another state into a model:
  // ways in which weights may come together that nobody sees.
  bool may_share_unseen = false;
  bool reads_files = false;  // in two of these steps or more, as where rounds go through files

  // Where processes make different numbers of steps, these do not belong together, and only their
  // first states are kept. Errors: FailedPrecondition if no two ranks trained the same
  // parameters.
  static absl::StatusOr<Replicas> From(const Run& run);
};

}  // namespace dlcheck
