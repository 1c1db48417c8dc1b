#include "checks/observe/preload/graph/loss_terms.h"

#include <torch/csrc/autograd/functions/accumulate_grad.h>

#include <cmath>
#include <string>
#include <vector>

#include "checks/observe/preload/call_sites.h"
#include "checks/observe/preload/graph/saved_values.h"
#include "checks/observe/preload/graph_nodes.h"

namespace dlcheck {
namespace {

using torch::autograd::Node;

constexpr int64_t kFewestOfNoise = 64;  // numbers
constexpr double kNearStandard = 0.5;   // how far mean and spread of noise may be from 0 and 1
constexpr int64_t kMostOfWeight = 16;   // numbers of a learned weight of terms
constexpr size_t kMostUsers = 64;
constexpr int kStepsMasked = 3, kMostLooksAtMeans = 64;
constexpr int64_t kFewestLengths = 3;  // of the rows of a mask
constexpr size_t kMostTerms = 64;
constexpr int kLongestArranged = 16;

bool IsNoise(const at::Tensor& tensor) {
  if (!tensor.defined() || tensor.requires_grad() || !tensor.is_floating_point()) return false;
  if (tensor.numel() < kFewestOfNoise || !tensor.device().is_cpu()) return false;
  const at::Tensor values = tensor.detach().to(at::kDouble);
  return std::abs(values.mean().item<double>()) < kNearStandard &&
         std::abs(values.std().item<double>() - 1) < kNearStandard;
}

bool ScalesNoise(Node& node) {
  const auto [self, other] = SavedFactors(node);
  return IsNoise(self) || IsNoise(other);
}

bool Adds(const Node& node) {
  const std::string name = node.name();
  return name == "AddBackward0" || name == "SubBackward0" || name == "RsubBackward0" ||
         name == "SubBackward1" || name == "AddBackward1" || name == "RsubBackward1";
}

// Whether this exponential multiplies noise, and the same numbers' exponential is a term of a sum,
// too. That of a log-variance is one of the divergence from a normal distribution; of half of it,
// which is a standard deviation, only the square is.
bool TakesVarianceForDeviation(const Node& node, const WalkedGraph& graph) {
  if (node.name() != "ExpBackward0" || node.num_outputs() == 0) return false;
  bool scales = false;
  for (Node* user : graph.UsersOf(&node)) scales = scales || ScalesNoise(*user);
  if (!scales) return false;
  const torch::autograd::Edge& source = node.next_edge(0);
  for (const Node* other : graph.UsersOf(source.function.get())) {
    if (other->name() != "ExpBackward0" || !(other->next_edge(0) == source)) continue;
    for (const Node* user : graph.UsersOf(other)) {
      if (Adds(*user)) return true;
    }
  }
  return false;
}

bool IsPositive(const std::string& name) {
  return name == "ExpBackward0" || name == "SoftplusBackward0" || name == "SigmoidBackward0";
}

bool PassesWeight(const std::string& name) {
  return IsArranging(name) || IsPositive(name) || name == "NegBackward0" ||
         name == "PowBackward0" || name == "ReciprocalBackward0" || name == "UnbindBackward0" ||
         name == "MulBackward1" || name == "DivBackward1";
}

// How many numbers a parameter has whose exponential multiplies terms of the loss, and which is
// used nowhere else, of the node that gathers its gradient; 0 of any other node.
int64_t UnlimitedWeight(const Node& leaf, const WalkedGraph& graph) {
  if (!IsLeaf(leaf)) return 0;
  const at::Tensor& weight = static_cast<const torch::autograd::AccumulateGrad&>(leaf).variable;
  if (!weight.defined() || weight.numel() > kMostOfWeight) return 0;
  std::vector<const Node*> waiting = {&leaf};
  size_t seen = 0;
  bool positive = false, multiplies = false;
  while (!waiting.empty()) {
    const Node* node = waiting.back();
    waiting.pop_back();
    for (const Node* user : graph.UsersOf(node)) {
      if (++seen > kMostUsers) return 0;
      const std::string name = user->name();
      const size_t given = InputsOf(*user);
      const bool is_small = NumbersOf(*user) >= 0 && NumbersOf(*user) <= kMostOfWeight;
      if (given == 1 && (PassesWeight(name) || name == "MulBackward0" || name == "DivBackward0")) {
        positive = positive || IsPositive(name);
        waiting.push_back(user);
      } else if (given == 2 && (name == "MulBackward0" || name == "DivBackward0") && is_small) {
        multiplies = true;
      } else {
        return 0;
      }
    }
  }
  return positive && multiplies ? weight.numel() : 0;
}

// Behind a mean: the mask (rows, positions) that kept some positions of what it averages.
at::Tensor MaskBefore(Node* node) {
  for (int i = 0; i < kLongestArranged && node != nullptr && IsArranging(node->name()); ++i) {
    node = OnlyInput(*node);
  }
  if (node == nullptr || node->name() != "MulBackward0") return {};
  const auto [self, other] = SavedFactors(*node);
  for (at::Tensor mask : {other, self}) {
    if (!mask.defined() || mask.requires_grad() || !mask.device().is_cpu()) continue;
    if (mask.numel() != NumbersOf(*node)) continue;
    if (mask.dim() == 3) mask = mask.squeeze(-1);
    const bool is_mask = mask.dim() == 2 && mask.eq(0).logical_or(mask.eq(1)).all().item<bool>();
    return is_mask ? mask : at::Tensor();
  }
  return {};
}

// The mask of a term of the sum that averages masked numbers; undefined if there is none.
at::Tensor MaskOfMean(const at::Tensor& root) {
  std::vector<Node*> waiting = {root.grad_fn().get()};
  for (size_t i = 0; i < waiting.size() && i < kMostTerms; ++i) {
    Node* node = waiting[i];
    if (node == nullptr) continue;
    const std::string name = node->name();
    if (name == "MeanBackward0") {
      const at::Tensor mask = MaskBefore(OnlyInput(*node));
      if (mask.defined()) return mask;
    } else if (name == "AddBackward0" || name == "SubBackward0") {
      for (const torch::autograd::Edge& edge : node->next_edges()) {
        waiting.push_back(edge.function.get());
      }
    } else if (IsArranging(name) || name == "NegBackward0" ||
               (InputsOf(*node) == 1 &&
                (name.rfind("MulBackward", 0) == 0 || name.rfind("DivBackward", 0) == 0))) {
      waiting.push_back(OnlyInput(*node));
    }
  }
  return {};
}

// Whether ones begin all rows of a mask, and zeros fill them up from several lengths on.
bool FillsRows(const at::Tensor& mask) {
  const at::Tensor lengths = mask.sum(1);
  const at::Tensor begins = at::arange(mask.size(1)).unsqueeze(0).lt(lengths.unsqueeze(1));
  return begins.equal(mask.to(at::kBool)) &&
         std::get<0>(at::_unique2(lengths)).numel() >= kFewestLengths;
}

}  // namespace

void LossTerms::Look(const WalkedGraph& graph, const OperationSites& sites,
                     ProbeRecorder& recorder) {
  for (const Node* node : graph.nodes) {
    if (TakesVarianceForDeviation(*node, graph)) {
      Tell(Quantity::kVarianceAsDeviation, "exp", *node, 1, sites, recorder);
    }
    const int64_t numbers = UnlimitedWeight(*node, graph);
    if (numbers > 0) {
      Tell(Quantity::kUnlimitedWeight, "loss", *node, static_cast<double>(numbers), sites,
           recorder);
    }
  }
}

void LossTerms::LookAtMean(const at::Tensor& root, ProbeRecorder& recorder) {
  if (masked_steps_ >= kStepsMasked || looks_ >= kMostLooksAtMeans) return;
  ++looks_;
  const at::Tensor mask = MaskOfMean(root);
  if (!mask.defined() || !FillsRows(mask)) return;
  kept_ += mask.sum().item<double>();
  all_ += static_cast<double>(mask.numel());
  if (++masked_steps_ < kStepsMasked) return;
  ProbeClock& clock = recorder.clock();
  clock.Put(Quantity::kPaddedMean,
            {clock.writer().Thing("loss", 0, "loss"), 0, recorder.Site(CallSite())}, kept_ / all_,
            all_);
}

void LossTerms::Tell(Quantity quantity, const char* name, const Node& node, double value,
                     const OperationSites& sites, ProbeRecorder& recorder) {
  if (!told_.insert(quantity).second) return;
  ProbeClock& clock = recorder.clock();
  clock.Put(quantity,
            {clock.writer().Thing("operation", 0, name), 0, recorder.Site(sites.Of(node))}, value);
}

}  // namespace dlcheck
