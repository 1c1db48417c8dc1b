// Gradients of one fixed batch under fixed weights: with rows permuted, targets changed, or the
// batch split in other ways.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "checks/engine/trace.h"

namespace dlcheck {

struct Arrangements {
  static constexpr std::string_view kName = "arrangements of a batch";
  struct Order {
    int64_t step;
    double share;     // how far the gradient moved, of its norm
    double rounding;  // how far rounding moves it
  };
  struct Loss {
    std::string name;
    int64_t step;
    double misplaced;  // targets that came with other samples than the outputs
    double told;       // positions for which that is known
    bool minimized;    // backward calls of this run begin from a multiple of this loss
  };
  struct Sizes {
    int64_t step;
    double summed;    // part of the gradient that grows with the batch
    double averaged;  // part that does not, and depends on the samples
    double bent;      // what is neither
    double rounding;
  };
  struct Cut {
    std::string operation;
    NamedSite site;  // of no line where none is known
  };
  struct Slope {
    int64_t step;
    double ratio;           // of the slope of the loss along its gradient, over what that says
    double rounding;        // how well it is known
    std::vector<Cut> cuts;  // where values leave the graph, or gradients are changed
  };
  struct Moved {
    double share;     // how far the gradient moved, of its norm
    double rounding;  // how far rounding moves it
  };
  struct Split {
    int64_t step = 0;
    std::string window;           // what its micro-batches are: "4 batches that a step fetches"
    std::optional<Moved> turned;  // micro-batches changed places
    std::optional<Moved> mixed;   // samples changed places between them
    bool is_cut = false;          // they are parts of one batch, and order inside them says nothing
    double bent = 0;              // what is no sum over samples then
    double ratio = 1;             // weight of a sample in the first of two, over that in the second
    std::vector<double> shares;   // of each place, where they are known
    std::string unmixed;          // why samples did not change places
  };
  std::optional<Split> split;  // micro-batches of other samples, or in other places
  std::optional<Slope> slope;  // batches as they are, weights moved along their gradient
  std::optional<Sizes> sizes;  // batches of one, two and three copies of the same samples
  std::optional<Order> order;  // samples changed places, each with its target
  std::vector<Loss> losses;
  bool draws = false;            // steps draw random numbers: then no order is judged
  bool drawn_at_random = false;  // the loader's order says nothing
  std::string untried_order;     // why there is none, as far as the host says
  std::string untried_targets;
  std::string untried_sizes;
  std::string untried_slope;
  std::string untried_split;

  // Errors: NotFound if no batch was arranged in any way.
  static absl::StatusOr<Arrangements> From(const Run& run);
};

}  // namespace dlcheck
