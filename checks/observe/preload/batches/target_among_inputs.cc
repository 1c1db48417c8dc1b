#include "checks/observe/preload/batches/target_among_inputs.h"

#include <algorithm>
#include <utility>

#include "checks/observe/preload/call_sites.h"
#include "checks/observe/probe/loss_inputs.h"

namespace dlcheck {
namespace {

constexpr size_t kStepsAmongInputs = 3;
constexpr int64_t kFewestAmongInputs = 64;                        // targets
constexpr int64_t kMostEntriesOfInput = 4096, kMostInputs = 512;  // of a batch
constexpr int64_t kTokens = -1;  // in the place of an entry: the last of several texts

using Entries = std::optional<std::set<int64_t>>;

// Of a model that was given several texts: whether the last one is the targets.
Entries EqualTexts(const std::vector<at::Tensor>& words, const at::Tensor& targets) {
  const bool is_last = ShiftOf(words.back(), targets) == 0;
  const bool is_first = ShiftOf(words.front(), targets).has_value();
  return is_last && !is_first ? std::set<int64_t>{kTokens} : std::set<int64_t>{};
}

// Which entries of the rows of the inputs equal their target; nothing where that tells nothing.
Entries EqualEntries(const at::Tensor& input, const at::Tensor& targets) {
  if (!IsAtHand(input) || input.dim() < 2 || input.is_complex()) return std::nullopt;
  const int64_t count = targets.dim() > 0 ? targets.size(0) : 0;
  if (count < 2 || input.size(0) != count || targets.numel() != count) return std::nullopt;
  const int64_t entries = input.numel() / count;
  if (entries < 2 || entries > kMostEntriesOfInput) return std::nullopt;
  const int64_t rows = std::min(count, kMostInputs);
  const at::Tensor wanted = targets.detach().reshape({count, 1}).narrow(0, 0, rows);
  if (wanted.eq(wanted[0]).all().item<bool>()) return std::nullopt;  // a constant is soon found
  const at::Tensor given = input.detach().narrow(0, 0, rows).reshape({rows, -1});
  const at::Tensor equal = given.eq(wanted.to(given.scalar_type())).all(0).nonzero().flatten();
  std::set<int64_t> found;
  for (int64_t i = 0; i < equal.numel(); ++i) found.insert(equal[i].item<int64_t>());
  return found;
}

}  // namespace

void TargetAmongInputs::Enters(const at::Tensor& input) { input_ = Weak(input.getIntrusivePtr()); }

void TargetAmongInputs::Given(const LossGiven& loss, const std::vector<at::Tensor>& words,
                              ProbeRecorder& recorder) {
  Found& found = found_[{loss.thing, loss.outputs.dim(), loss.targets.dim()}];
  const bool is_settled =
      (found.entries && found.entries->empty()) ||
      (found.steps.size() >= kStepsAmongInputs && found.targets >= kFewestAmongInputs);
  if (is_settled || !IsAtHand(loss.targets) || loss.targets.requires_grad()) return;
  const auto held = input_.lock();
  const at::Tensor input = held ? at::Tensor(held) : at::Tensor();
  const bool has_texts = words.size() > 1 && !loss.targets.is_floating_point();
  Entries now = has_texts ? EqualTexts(words, loss.targets) : EqualEntries(input, loss.targets);
  if (!now) return;
  if (found.entries) {
    for (auto entry = now->begin(); entry != now->end();) {
      entry = found.entries->count(*entry) > 0 ? std::next(entry) : now->erase(entry);
    }
  }
  found.entries = std::move(now);
  found.steps.insert(recorder.clock().step());
  found.targets += loss.targets.numel();
  if (found.entries->empty() || found.steps.size() < kStepsAmongInputs) return;
  if (found.targets < kFewestAmongInputs) return;
  recorder.clock().Put(Quantity::kTargetAmongInputs, {loss.thing, 0, recorder.Site(CallSite())},
                       static_cast<double>(*found.entries->begin()),
                       static_cast<double>(found.targets));
}

}  // namespace dlcheck
