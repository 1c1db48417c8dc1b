#include "checks/observe/preload/losses/loss_outputs.h"

#include <algorithm>
#include <optional>

#include "checks/observe/preload/call_sites.h"
#include "checks/observe/preload/graph/saved_values.h"
#include "checks/observe/preload/graph_nodes.h"

namespace dlcheck {
namespace {

using torch::autograd::Node;

constexpr int kLongestWayToSoftmax = 16;  // of nodes
constexpr int64_t kFewestRowsOfPairs = 4, kMostRowsOfPairs = 1024;
constexpr int kMostLooksAtPairs = 16;
constexpr double kAlikeScores = 1e-3;  // relative difference of cosines that are all 1

// Whether a node leaves the axes of what it is given in their places.
bool KeepsAxes(const std::string& name) {
  for (const char* keeping : {"Log", "Clamp", "Expand", "Clone", "ToCopy", "NativeDropout", "Mul",
                              "Div", "Add", "Sub", "MaskedFill", "Where"}) {
    if (name.rfind(std::string(keeping) + "Backward", 0) == 0) return true;
    if (name.rfind(std::string(keeping) + "MinBackward", 0) == 0) return true;
  }
  return false;
}

// The axis, from 0, along which a softmax made log-probabilities of three axes or more, if that is
// not the one on which nll_loss takes classes; nothing if it is, or not known.
std::optional<int64_t> MisplacedClasses(const at::Tensor& outputs) {
  if (outputs.dim() < 3) return std::nullopt;
  int64_t axis = 1 - outputs.dim();
  Node* node = outputs.grad_fn().get();
  for (int i = 0; i < kLongestWayToSoftmax && node != nullptr; ++i) {
    const std::string name = node->name();
    if (const std::optional<int64_t> own = SoftmaxAxisOf(*node)) {
      if (*own == axis) return std::nullopt;
      return static_cast<int64_t>(node->input_metadata(0).shape_as_dim_vector().size()) + *own;
    }
    if (const auto axes = TransposedBy(*node)) {
      if (axis == axes->first || axis == axes->second) {
        axis = axis == axes->first ? axes->second : axes->first;
      }
    } else if (!KeepsAxes(name)) {
      return std::nullopt;
    }
    node = OnlyInput(*node);
  }
  return std::nullopt;
}

// Whether scores (rows, rows) are largest on the diagonal, equal there, and smaller elsewhere on
// average: those of each row with itself are among them.
bool CountsOwnPairs(const at::Tensor& scores) {
  const at::Tensor own = scores.diagonal();
  const double largest = own.max().item<double>(), least = own.min().item<double>();
  const double margin = kAlikeScores * own.abs().max().item<double>();
  if (!own.isfinite().all().item<bool>() || largest - least > margin) return false;
  return scores.amax(1).le(own + margin).all().item<bool>() &&
         scores.mean().item<double>() < own.mean().item<double>() - margin;
}

}  // namespace

void LossOutputs::Given(const LossGiven& loss, ProbeRecorder& recorder) {
  LookAtPrecision(loss, recorder);
  if (loss.function == "nll_loss") LookAtAxis(loss, recorder);
  if (loss.HasOneClassEach()) LookAtPairs(loss, recorder);
}

// Sums of exponentials keep two or three digits.
void LossOutputs::LookAtPrecision(const LossGiven& loss, ProbeRecorder& recorder) {
  const at::ScalarType type = loss.result.scalar_type();
  if (type != at::kHalf && type != at::kBFloat16) return;
  if (loss.outputs.scalar_type() != type || !halves_.insert(loss.thing).second) return;
  recorder.clock().Put(Quantity::kLossPrecision, {loss.thing}, type == at::kHalf ? 11 : 8);
}

void LossOutputs::LookAtAxis(const LossGiven& loss, ProbeRecorder& recorder) {
  if (axes_.count(loss.thing) > 0) return;
  const std::optional<int64_t> axis = MisplacedClasses(loss.outputs);
  if (!axis) return;
  axes_.insert(loss.thing);
  recorder.clock().Put(Quantity::kMisplacedClasses, {loss.thing, 0, recorder.Site(CallSite())},
                       static_cast<double>(*axis), static_cast<double>(loss.outputs.dim()));
}

void LossOutputs::LookAtPairs(const LossGiven& loss, ProbeRecorder& recorder) {
  const int64_t rows = loss.outputs.size(0);
  if (rows != loss.outputs.size(1) || rows < kFewestRowsOfPairs || rows > kMostRowsOfPairs) return;
  int& looks = looks_[loss.thing];
  if (looks >= kMostLooksAtPairs || !IsAtHand(loss.outputs)) return;
  ++looks;
  if (loss.targets.eq(at::arange(rows)).any().item<bool>()) return;
  if (!CountsOwnPairs(loss.outputs.detach().to(at::kDouble))) return;
  looks = kMostLooksAtPairs;
  recorder.clock().Put(Quantity::kOwnPairs, {loss.thing, 0, recorder.Site(CallSite())},
                       static_cast<double>(rows));
}

}  // namespace dlcheck
