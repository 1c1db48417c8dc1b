#include "checks/signals/optimizer/rebuilding.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "checks/signals/run/first_process.h"
#include "checks/signals/run/first_sites.h"
#include "checks/signals/run/step_order.h"

namespace dlcheck {
namespace {

constexpr int64_t kMostSteps = 2;

// Steps of one optimizer, one after the other on the clock.
struct Block {
  ThingId optimizer = 0;
  int64_t first = 0, last = 0;
  SiteId site = 0;
  bool loads = false;    // state was loaded in its first step
  bool follows = false;  // the step before it on the clock was sampled too
};

std::vector<Block> BlocksOf(const StepOrder& order) {
  std::vector<Block> blocks;
  for (const StepOrder::Step& step : order.steps) {
    const bool follows = !blocks.empty() && blocks.back().last + 1 == step.step;
    if (follows && blocks.back().optimizer == step.optimizer) {
      blocks.back().last = step.step;
      continue;
    }
    blocks.push_back(
        {step.optimizer, step.step, step.step, step.site, step.Count(Event::kLoaded) > 0, follows});
  }
  return blocks;
}

class Rows {
 public:
  Rows(const Trace& trace, const std::vector<Block>& blocks) : trace_(trace) {
    for (const Block& block : blocks) ++times_[block.optimizer];
    for (const ThingId id : trace.ThingsWith(Quantity::kGradientNorm)) {
      for (const Sample& sample : FirstProcess(trace.Series(Quantity::kGradientNorm, id))) {
        consumed_.emplace(sample.step, id);  // keeps the first of a step
      }
    }
  }

  bool IsShortLived(const Block& block) const {
    return times_.at(block.optimizer) == 1 && block.last - block.first < kMostSteps &&
           Attribute(block, "stateful") == "1" && Attribute(block, "type") != "LBFGS" &&
           ConsumedBy(block) != 0;
  }

  bool Continues(const Block& before, const Block& block) const {
    return block.follows && !block.loads && Key(before) == Key(block);
  }

  // The first parameter whose gradient its first step consumed; 0 if there was none. Copies of a
  // model have the same names, but are other things.
  ThingId ConsumedBy(const Block& block) const {
    const auto found = consumed_.find(block.first);
    return found == consumed_.end() ? 0 : found->second;
  }

  std::string_view Attribute(const Block& block, std::string_view key) const {
    return trace_.Attribute(block.optimizer, key);
  }

 private:
  std::tuple<std::string_view, ThingId, std::string_view> Key(const Block& block) const {
    return {Attribute(block, "type"), ConsumedBy(block), Attribute(block, "parameters")};
  }

  const Trace& trace_;
  std::map<ThingId, int> times_;         // blocks by optimizer
  std::map<int64_t, ThingId> consumed_;  // by step
};

}  // namespace

absl::StatusOr<Rebuilding> Rebuilding::From(const Run& run) {
  const absl::StatusOr<StepOrder> order = StepOrder::From(run);
  if (!order.ok()) return order.status();
  const std::vector<Block> blocks = BlocksOf(*order);
  const Rows rows(run.trace, blocks);
  const std::map<ThingId, SiteId> lines = FirstSites(run.trace, Event::kOptimizerBuilt);
  Rebuilding longest, row;
  for (size_t i = 0; i < blocks.size(); ++i) {
    const Block& block = blocks[i];
    if (!rows.IsShortLived(block)) {
      row = {};
      continue;
    }
    if (row.optimizers == 0 || !rows.Continues(blocks[i - 1], block)) {
      row = {};
      row.first_step = block.first;
      row.site = block.site;
      row.type = std::string(rows.Attribute(block, "type"));
      row.first_parameter = run.trace.Display(rows.ConsumedBy(block));
    }
    ++row.optimizers;
    const SiteId built = SiteOf(lines, block.optimizer);
    if (row.optimizers == 2 && built != 0) row.site = built;
    row.steps += block.last - block.first + 1;
    row.last_step = block.last;
    if (row.optimizers > longest.optimizers) longest = row;
  }
  longest.judged = static_cast<int64_t>(order->steps.size());
  longest.trace = &run.trace;
  return longest;
}

}  // namespace dlcheck
