// Learning-rate schedulers: their planned number of steps, the actual scheduler steps and their
// places, and the optimizer steps made meanwhile.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "checks/engine/trace.h"

namespace dlcheck {

struct Schedulers {
  static constexpr std::string_view kName = "schedulers";
  struct Scheduler {
    std::string name;            // "CosineAnnealingLR of optimizer#0"
    ThingId optimizer = 0;       // 0: not known
    std::string optimizer_name;  // "optimizer#0"
    bool built_seen = false;
    bool step_depends = false;  // the program steps it in the branch of an if
    double horizon = 0;         // moves that it is made for; 0: it has no end
    bool rises_again = false;
    bool restarts = false;          // rises again on purpose
    bool milestones = false;        // its length is the last of them
    double first_change = 0;        // of one without an end: moves before its rate changes
    SiteId site = 0;                // of its first move
    std::vector<Occurrence> moves;  // at sampled steps, in order
    // Moves of the whole run: that it certainly made, and that it can have made at most.
    int64_t fewest = 0, most = 0;
    int64_t calls_since_built = 0;  // step calls, of all optimizers
  };
  std::vector<Scheduler> schedulers;   // by first record
  std::map<ThingId, int64_t> sampled;  // sampled step calls by optimizer, skipped ones included
  int64_t calls = 0;                   // step calls of the run
  int64_t backward_calls = 0;
  std::vector<double> batches_in_pass;  // over each loader whose data have a known length
  int64_t unassigned_moves = 0;         // in gaps, of whichever scheduler
  bool state_loaded = false;            // of an optimizer or a scheduler, or nobody knows what
  bool finished = false;  // the run ended by itself, with status 0, and was recorded to its end

  bool has_one_optimizer() const { return sampled.size() == 1; }

  // Of the first process only. Errors: NotFound if no optimizer step was observed;
  // FailedPrecondition if no scheduler was.
  static absl::StatusOr<Schedulers> From(const Run& run);
};

}  // namespace dlcheck
