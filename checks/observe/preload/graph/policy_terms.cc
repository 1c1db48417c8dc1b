#include "checks/observe/preload/graph/policy_terms.h"

#include <string_view>
#include <unordered_set>
#include <vector>

#include "checks/observe/preload/graph/saved_values.h"
#include "checks/observe/preload/graph_nodes.h"

namespace dlcheck {
namespace {

using torch::autograd::Node;

constexpr size_t kStepsOfOnes = 3;
constexpr int64_t kFewestRatios = 8;
constexpr double kNearOneRatio = 1e-3, kNearOneInHalf = 0.1;  // what rounding alone makes
constexpr double kLeastApart = 0.1;                           // share of the ratios
constexpr double kLeastBound = 0.3, kMostBound = 3.0;         // of a clamp
constexpr size_t kMostNodesOfTerm = 64;

Node* Before(const Node& node, size_t place) {
  return place < node.num_outputs() ? node.next_edge(place).function.get() : nullptr;
}

bool IsAmong(const std::string& name, std::initializer_list<const char*> words) {
  for (const char* word : words) {
    if (name == word) return true;
  }
  return false;
}

bool Chooses(const std::string& name) {
  return IsAmong(name, {"GatherBackward0", "IndexBackward0", "SelectBackward0"});
}

// Of probabilities: a log-softmax, or scores without the logarithm of the sum of their
// exponentials.
bool IsLogarithm(const Node& node) {
  const std::string name = node.name();
  if (name == "LogSoftmaxBackward0") return true;
  if (name != "SubBackward0") return false;
  for (const torch::autograd::Edge& edge : node.next_edges()) {
    if (edge.function != nullptr && edge.function->name() == "LogsumexpBackward0") return true;
  }
  return false;
}

bool IsChosenLogarithm(const Node* node) {
  bool chosen = false;
  for (size_t i = 0; i < kMostNodesOfTerm && node != nullptr; ++i) {
    if (IsLogarithm(*node)) return chosen;
    const std::string name = node->name();
    chosen = chosen || Chooses(name);
    const bool passes =
        IsArranging(name) || Chooses(name) ||
        IsAmong(name, {"NegBackward0", "ExpBackward0", "ClampBackward0", "ClampBackward1",
                       "StackBackward0", "SubBackward0", "AddBackward0"});
    if (!passes) return false;
    const Node* next = nullptr;
    for (size_t place = 0; place < node->num_outputs() && next == nullptr; ++place) {
      next = Before(*node, place);
    }
    node = next;
  }
  return false;
}

// Whether nothing but arithmetic lies between this and a layer.
bool IsValue(const Node* start) {
  std::vector<const Node*> waiting = {start};
  std::unordered_set<const Node*> met;
  bool found = false;
  while (!waiting.empty()) {
    const Node* node = waiting.back();
    waiting.pop_back();
    if (node == nullptr || IsLeaf(*node) || !met.insert(node).second) continue;
    const std::string name = node->name();
    if (IsAmong(name, {"AddmmBackward0", "MmBackward0", "ConvolutionBackward0"})) {
      found = true;
      continue;
    }
    const bool passes =
        IsArranging(name) ||
        IsAmong(name, {"SubBackward0", "AddBackward0", "NegBackward0", "MulBackward0",
                       "DivBackward0", "StackBackward0", "CatBackward0", "UnbindBackward0"});
    if (!passes || met.size() > kMostNodesOfTerm) return false;
    for (size_t place = 0; place < node->num_outputs(); ++place) {
      waiting.push_back(Before(*node, place));
    }
  }
  return found;
}

// A product of a chosen log-probability and of something that a layer gave.
bool WeighsWithGradient(const Node& node) {
  if (node.name() != "MulBackward0" || node.num_outputs() != 2) return false;
  const Node *one = Before(node, 0), *other = Before(node, 1);
  if (one == nullptr || other == nullptr) return false;
  return IsChosenLogarithm(one) ? IsValue(other) : IsChosenLogarithm(other) && IsValue(one);
}

bool IsClamp(const std::string& name) {
  return IsAmong(name,
                 {"ClampBackward0", "ClampBackward1", "ClampMinBackward0", "ClampMaxBackward0"});
}

// The exponential of a difference from a constant, used with a clamp around 1 and without, as the
// clipped surrogate is.
bool IsRatio(const Node& node, const WalkedGraph& graph) {
  const Node* difference = Before(node, 0);
  if (difference == nullptr || difference->name() != "SubBackward0") return false;
  if (InputsOf(*difference) == difference->num_outputs()) return false;
  bool around_one = false, multiplied = false;
  for (const Node* user : graph.UsersOf(&node)) {
    const auto bounds = ClampBoundsOf(*user);
    around_one = around_one || (bounds && bounds->first >= kLeastBound && bounds->first < 1 &&
                                bounds->second > 1 && bounds->second <= kMostBound);
    multiplied = multiplied || user->name() == "MulBackward0";
  }
  return around_one && multiplied;
}

bool WorksInHalf(const WalkedGraph& graph) {
  for (const Node* node : graph.nodes) {
    if (node->name() == "ToCopyBackward0") return true;
  }
  return false;
}

}  // namespace

void PolicyTerms::Look(const WalkedGraph& graph, const OperationSites& sites,
                       ProbeRecorder& recorder) {
  for (Node* node : graph.nodes) {
    if (WeighsWithGradient(*node)) {
      Tell(Quantity::kWeightedLogProbability, "log_prob", *node, 1, 0, sites, recorder);
    }
    if (node->name() == "ExpBackward0") LookAtRatios(*node, graph, sites, recorder);
  }
}

void PolicyTerms::LookAtRatios(Node& node, const WalkedGraph& graph, const OperationSites& sites,
                               ProbeRecorder& recorder) {
  bool clamped = false;
  for (const Node* user : graph.UsersOf(&node)) clamped = clamped || IsClamp(user->name());
  const at::Tensor ratios = clamped ? SavedExponential(node) : at::Tensor();
  if (!ratios.defined() || !ratios.device().is_cpu() || ratios.numel() < kFewestRatios) return;
  const int64_t step = recorder.clock().step();
  const at::Tensor values = ratios.detach();
  const auto numbers = static_cast<double>(values.numel());
  if (values.eq(1).all().item<bool>()) {
    ones_[step] = numbers;
    if (ones_.size() < kStepsOfOnes) return;
    double all = 0;
    for (const auto& [at, count] : ones_) all += count;
    Tell(Quantity::kConstantRatio, "exp", node, all, 0, sites, recorder);
  } else if (step == 0 && IsRatio(node, graph)) {
    const double near = WorksInHalf(graph) ? kNearOneInHalf : kNearOneRatio;
    const double apart = (values - 1).abs().gt(near).sum().item<double>();
    if (apart <= kLeastApart * numbers) return;
    Tell(Quantity::kFirstRatio, "exp", node, apart, numbers, sites, recorder);
  }
}

void PolicyTerms::Tell(Quantity quantity, const char* name, const Node& node, double value,
                       double aux, const OperationSites& sites, ProbeRecorder& recorder) {
  if (!told_.insert(quantity).second) return;
  ProbeClock& clock = recorder.clock();
  clock.Put(quantity,
            {clock.writer().Thing("operation", 0, name), 0, recorder.Site(sites.Of(node))}, value,
            aux);
}

}  // namespace dlcheck
