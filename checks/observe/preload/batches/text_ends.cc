#include "checks/observe/preload/batches/text_ends.h"

#include <algorithm>

#include "checks/observe/preload/call_sites.h"
#include "checks/observe/preload/losses/padding.h"
#include "checks/observe/probe/loss_inputs.h"

namespace dlcheck {
namespace {

constexpr int64_t kMostRowsOfTexts = 4096;

std::vector<int64_t> NumbersIn(const at::Tensor& whole) {
  const at::Tensor flat = whole.to(at::kLong).contiguous();
  const auto* first = flat.data_ptr<int64_t>();
  return {first, first + flat.numel()};
}

bool HasNext(const LossGiven& loss, const at::Tensor& tokens) {
  return !loss.targets.is_floating_point() && ShiftOf(tokens, loss.targets) == 1;
}

// Whether targets belong to whole rows, or to each token of them: others may be the next tokens in
// another arrangement, as packed ones are.
bool AreOfRows(const at::Tensor& targets, const at::Tensor& tokens) {
  if (targets.numel() == tokens.size(0)) return true;
  return targets.numel() == tokens.numel() &&
         (targets.is_floating_point() || !ShiftOf(tokens, targets).has_value());
}

void TellOfTexts(Quantity quantity, uint32_t thing, double value, double aux,
                 ProbeRecorder& recorder) {
  recorder.clock().Put(quantity, {thing, 0, recorder.Site(CallSite())}, value, aux);
}

}  // namespace

void TextEnds::Given(const LossGiven& loss, const std::vector<at::Tensor>& words,
                     ProbeRecorder& recorder) {
  const bool is_over = next_of_ends_ > kMostRowsOfTexts && next_of_cut_ > kMostRowsOfTexts;
  if (is_over || !IsAtHand(loss.targets)) return;
  const bool has_classes = loss.TakesClasses() && !loss.targets.is_floating_point();
  for (const at::Tensor& tokens : words) {
    if (!has_classes || ShiftOf(tokens, loss.targets) != 1) continue;
    CountTrained(loss, loss.targets.detach().reshape({tokens.size(0), -1}), recorder);
    break;
  }
  for (const at::Tensor& tokens : words) {
    const at::Tensor padding = PaddingOf(tokens);
    if (!padding.defined()) continue;
    CountCut(loss, tokens, padding, recorder);
    break;
  }
}

// Targets (rows, positions) that are the next tokens.
void TextEnds::CountTrained(const LossGiven& loss, const at::Tensor& rows,
                            ProbeRecorder& recorder) {
  if (next_of_ends_ > kMostRowsOfTexts) return;
  const at::Tensor counted = rows.ge(0).to(at::kLong);
  const at::Tensor last = (counted * (1 + counted.cumsum(1))).argmax(1);
  const at::Tensor tokens = rows.gather(1, last.unsqueeze(1)).squeeze(1);
  const std::vector<int64_t> places = NumbersIn(last), ends = NumbersIn(tokens);
  for (size_t i = 0; i < places.size(); ++i) {
    if (ends[i] >= 0 && places[i] < rows.size(1) - 1) ++ends_[ends[i]];
  }
  int64_t all = 0, most = 0;
  for (const auto& [token, count] : ends_) {
    all += count;
    most = std::max(most, count);
  }
  if (all < next_of_ends_) return;
  next_of_ends_ = 2 * all;
  TellOfTexts(Quantity::kEndTokens, loss.thing, static_cast<double>(ends_.size()),
              static_cast<double>(most) / static_cast<double>(all), recorder);
}

// A model that is trained on the next token is given all but the last one, and that may be the end.
void TextEnds::CountCut(const LossGiven& loss, const at::Tensor& tokens, const at::Tensor& padding,
                        ProbeRecorder& recorder) {
  if (next_of_cut_ > kMostRowsOfTexts || last_of_shorter_.size() > 1) return;
  if (!HasNext(loss, tokens) && !AreOfRows(loss.targets, tokens)) return;
  const at::Tensor full = padding.any(1).logical_not();
  const at::Tensor lengths = padding.logical_not().sum(1);
  const at::Tensor rows = full.logical_not().logical_and(lengths.gt(0)).nonzero().flatten();
  const at::Tensor places = lengths.index_select(0, rows).unsqueeze(1) - 1;
  const at::Tensor ends = tokens.index_select(0, rows).gather(1, places);
  for (const int64_t token : NumbersIn(ends)) last_of_shorter_.insert(token);
  shorter_ += rows.numel();

  const at::Tensor whole = full.nonzero().flatten();
  const at::Tensor last = tokens.index_select(0, whole).select(1, tokens.size(1) - 1);
  at::Tensor behind = last;
  if (HasNext(loss, tokens)) {
    const at::Tensor targets = loss.targets.detach().reshape({tokens.size(0), -1});
    behind = targets.index_select(0, whole).select(1, targets.size(1) - 1);
  }
  const std::vector<int64_t> lasts = NumbersIn(last), nexts = NumbersIn(behind);
  for (size_t i = 0; i < lasts.size(); ++i) ++last_of_full_[{lasts[i], nexts[i]}];

  int64_t all = shorter_, cut = 0;
  for (const auto& [pair, count] : last_of_full_) {
    all += count;
    const bool has_end =
        last_of_shorter_.count(pair.first) > 0 || last_of_shorter_.count(pair.second) > 0;
    cut += has_end ? 0 : count;
  }
  if (all < next_of_cut_ || last_of_shorter_.size() != 1) return;
  next_of_cut_ = 2 * all;
  if (cut == 0) return;
  TellOfTexts(Quantity::kCutRows, loss.thing, static_cast<double>(cut), static_cast<double>(all),
              recorder);
}

}  // namespace dlcheck
