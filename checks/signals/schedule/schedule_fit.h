// The learning rates that steps used, compared with those of the schedule, by parameter group.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "checks/engine/trace.h"

namespace dlcheck {

struct ScheduleFit {
  static constexpr std::string_view kName = "schedule fit";

  // Rates closer than this share of the schedule's peak count as equal: a rate that was kept in
  // float32 is off by 6e-8, and one step of a cosine over 100,000 steps moves it by 1.6e-5.
  static constexpr double kTolerance = 1e-6;

  // The first that holds.
  enum class Kind : uint8_t {
    kFits,
    kShifted,     // what the schedule gives a fixed number of updates later or earlier
    kScaled,      // a constant multiple, as layer-wise rates are
    kHeld,        // constant over stretches, each right at its beginning
    kUngoverned,  // does not move, while another group of its optimizer does
    kOther,
  };
  struct Group {
    std::string name;  // "optimizer#0/group#1"
    Kind kind = Kind::kFits;
    bool moves = true;                      // the rate that is used
    int64_t judged = 0, differing = 0;      // steps
    int64_t first_step = 0, last_step = 0;  // of those that differ
    int64_t step = 0;                       // where they differ most, and by what
    double used = 0, scheduled = 0;
    int shift = 0;        // updates; positive: what is given for a later one
    double factor = 1;    // of a multiple
    int64_t stretch = 1;  // most steps with one learning rate
  };
  std::vector<Group> groups;  // those whose schedule moves

  // Errors: NotFound if no group has both rates; FailedPrecondition if no schedule moves.
  static absl::StatusOr<ScheduleFit> From(const Run& run);
};

}  // namespace dlcheck
