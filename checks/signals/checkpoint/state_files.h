// Checkpoint files: what a run saved and loaded, and where it put what it loaded.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "checks/engine/trace.h"

namespace dlcheck {

struct StateFiles {
  static constexpr std::string_view kName = "files of state";
  // Out of: average, model, optimizer, random, scaler, scheduler, other.
  using Contents = std::set<std::string, std::less<>>;
  struct Save {
    std::string file;
    Contents contents;
    int64_t step = 0;
    bool followed = false;  // by an optimizer step
  };
  struct Load {
    std::string file;
    Contents contents;
    Contents put_in;  // kinds of things that state was put into after it
    int64_t step = 0;
    int64_t steps_after = 0;
    bool saved_here = false;       // this run had written the file before
    bool into_trained = false;     // put into a model that had been trained already
    bool keeps_optimizer = false;  // an optimizer that had stepped before stepped after it too
    std::set<ThingId> stepped;     // optimizers that had stepped before
    bool into_untrained = false;   // into an optimizer none of whose models had been trained
  };
  struct Nonfinite {
    std::string file;
    int64_t step = 0;
    double elements = 0, looked_at = 0;
  };
  std::vector<Save> saves;
  int64_t saves_in_gaps = 0;  // counted in steps that were not sampled, and nothing more
  std::vector<Load> loads;
  std::vector<Nonfinite> looked_at;  // files whose numbers were looked at, finite or not
  std::set<ThingId> stepped;         // optimizers, as far as their steps were sampled
  Contents put_in;                   // kinds of things that state was put into in the whole run
  bool scheduler_moves = false;
  bool scales = false;         // a loss scaler is at work
  bool keeps_state = false;    // some optimizer that steps keeps tensors of its own
  std::string elsewhere;       // model whose weights went into another object, not its optimizer's
  bool trains_loaded = false;  // a model that an optimizer has was given a state
  bool fits_whole = true;      // no state left a part of its model as it was
  bool has_frozen = false;     // some parameter requires no gradient

  // The file that the run writes in the very steps in which it writes this one, that holds `kind`
  // and was never read; empty if this one holds `kind` too, or there is no such file.
  std::string PairOf(std::string_view file, std::string_view kind) const;

  // Of the first process. Errors: NotFound if nothing was saved or loaded.
  static absl::StatusOr<StateFiles> From(const Run& run);
};

}  // namespace dlcheck
