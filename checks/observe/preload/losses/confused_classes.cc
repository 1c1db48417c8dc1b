#include "checks/observe/preload/losses/confused_classes.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "checks/observe/preload/call_sites.h"

namespace dlcheck {
namespace {

constexpr int64_t kFewestConfused = 3, kMostConfused = 256;  // classes
constexpr int64_t kMostRowsOfVotes = 4096;                   // of a batch
// Of each class: samples before anything is said, and after which nothing is.
constexpr int64_t kFewestVotes = 5, kEnoughVotes = 200;
// Shares: of a class for another one, of a class for itself, of all samples.
constexpr double kLeastMoved = 0.6, kMostOwn = 0.2, kLeastOfAll = 0.7;

// Whether these are scores (samples, classes) that can be read.
bool IsOfScores(const at::Tensor& outputs) {
  return outputs.dim() == 2 && outputs.size(0) > 0 && outputs.size(1) >= kFewestConfused &&
         outputs.size(1) <= kMostConfused && outputs.is_floating_point() && IsAtHand(outputs);
}

at::Tensor FirstRows(const at::Tensor& tensor) {
  return tensor.detach().narrow(0, 0, std::min(tensor.size(0), kMostRowsOfVotes));
}

// How many classes stand in the place of another one, and the share of the samples for which that
// is so or the class is the same; nothing where no class does.
std::optional<std::pair<double, double>> MovedClasses(const at::Tensor& counts) {
  const at::Tensor samples = counts.sum(1);
  if (samples.min().item<int64_t>() < kFewestVotes) return std::nullopt;
  const int64_t classes = counts.size(0);
  const at::Tensor best = counts.argmax(1);
  const at::Tensor moved = best.ne(at::arange(classes));
  if (!moved.any().item<bool>()) return std::nullopt;
  if (std::get<0>(at::_unique2(best)).numel() != classes) return std::nullopt;
  const at::Tensor shares = counts.to(at::kDouble) / samples.unsqueeze(1);
  const at::Tensor chosen = shares.gather(1, best.unsqueeze(1)).squeeze(1);
  const at::Tensor too_few = chosen.lt(kLeastMoved).logical_and(moved);
  const at::Tensor too_many = shares.diagonal().gt(kMostOwn).logical_and(moved);
  if (too_few.any().item<bool>() || too_many.any().item<bool>()) return std::nullopt;
  const double all =
      counts.gather(1, best.unsqueeze(1)).sum().item<double>() / counts.sum().item<double>();
  if (all < kLeastOfAll) return std::nullopt;
  return std::make_pair(moved.sum().item<double>(), all);
}

}  // namespace

void ConfusedClasses::Trained(const LossGiven& loss, ProbeRecorder& recorder) {
  const int64_t step = recorder.clock().step();
  if (std::exchange(step_, step) != step) labels_ = votes_ = at::Tensor();
  if (!IsOfScores(loss.outputs) || !IsAtHand(loss.targets)) return;
  if (loss.HasOneClassEach()) {
    labels_ = FirstRows(loss.targets).clone();
  } else if (loss.targets.is_floating_point() && loss.targets.sizes() == loss.outputs.sizes() &&
             !loss.targets.requires_grad()) {
    votes_ = FirstRows(loss.targets).argmax(1);
    teacher_ = loss.thing;
    teacher_classes_ = loss.targets.size(1);
  }
  if (!labels_.defined() || !votes_.defined() || labels_.sizes() != votes_.sizes()) return;
  Add(Quantity::kTeacherClasses, teacher_, teacher_classes_, labels_, votes_, recorder);
  labels_ = votes_ = at::Tensor();
}

void ConfusedClasses::Evaluated(const LossGiven& loss, ProbeRecorder& recorder) {
  if (!IsOfScores(loss.outputs) || !loss.HasOneClassEach() || !IsAtHand(loss.targets)) return;
  Add(Quantity::kEvaluationClasses, loss.thing, loss.outputs.size(1), FirstRows(loss.targets),
      FirstRows(loss.outputs).argmax(1), recorder);
}

void ConfusedClasses::Add(Quantity quantity, uint32_t thing, int64_t classes,
                          const at::Tensor& labels, const at::Tensor& votes,
                          ProbeRecorder& recorder) {
  at::Tensor& counts = counts_[{quantity, thing, classes}];
  if (!counts.defined()) counts = at::zeros({classes, classes}, at::kLong);
  if (told_.count(quantity) > 0 || counts.sum().item<int64_t>() > kEnoughVotes * classes) return;
  if (!labels.ge(0).logical_and(labels.lt(classes)).all().item<bool>()) return;
  counts += (labels.to(at::kLong) * classes + votes)
                .bincount({}, classes * classes)
                .reshape({classes, classes});
  const std::optional<std::pair<double, double>> found = MovedClasses(counts);
  if (!found) return;
  told_.insert(quantity);
  recorder.clock().Put(quantity, {thing, 0, recorder.Site(CallSite())}, found->first,
                       found->second);
}

}  // namespace dlcheck
