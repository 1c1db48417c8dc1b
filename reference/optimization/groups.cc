#include "reference/optimization/groups.h"

#include <algorithm>
#include <sstream>
#include <unordered_set>

namespace dlcheck::reference {
namespace {

std::unordered_set<const void*> EmbeddingsOf(const torch::nn::Module& module) {
  std::unordered_set<const void*> found;
  for (const auto& part : module.modules(/*include_self=*/false)) {
    const auto* embedding = part->as<torch::nn::EmbeddingImpl>();
    if (embedding != nullptr) found.insert(embedding->weight.unsafeGetTensorImpl());
  }
  return found;
}

std::string WithFactor(const std::string& name, double factor) {
  if (factor == 1) return name;
  std::ostringstream text;
  text << name << " x " << factor;
  return text.str();
}

}  // namespace

std::vector<Optimizer::Group> ParameterGroups(const torch::nn::Module& module,
                                              const GroupOptions& options) {
  using Rule = Optimizer::Rule;
  const bool is_split = options.decay == DecayRule::kNotVectors;
  const double lr = options.has_muon ? options.lr_others : options.lr;
  const std::optional<Rule> rule =
      options.has_muon ? std::optional<Rule>(Rule::kAdamW) : std::nullopt;
  std::vector<Optimizer::Group> groups = {
      {is_split ? "weights" : "all", lr, options.weight_decay, {}, rule}};
  if (is_split) groups.push_back({"vectors", lr, 0, {}, rule});
  const auto embeddings = EmbeddingsOf(module);
  const auto group_of = [&](const std::string& name, const torch::Tensor& tensor) {
    const bool is_hidden =
        embeddings.count(tensor.unsafeGetTensorImpl()) == 0 && !tensor.is_same(options.head);
    const bool has_muon = options.has_muon && tensor.dim() == 2 && is_hidden;
    const double factor = options.rate_factor(name);
    const Optimizer::Group& common = tensor.dim() > 1 || !is_split ? groups.front() : groups[1];
    Optimizer::Group wanted = {WithFactor(has_muon ? "matrices" : common.name, factor),
                               (has_muon ? options.lr : lr) * factor,
                               common.weight_decay,
                               {},
                               has_muon ? std::nullopt : rule};
    const auto same = std::find_if(groups.begin(), groups.end(),
                                   [&](const auto& group) { return group.name == wanted.name; });
    if (same != groups.end()) return static_cast<size_t>(same - groups.begin());
    groups.push_back(std::move(wanted));
    return groups.size() - 1;
  };
  std::unordered_set<const void*> seen;
  for (const auto& item : module.named_parameters()) {
    const torch::Tensor& tensor = item.value();
    if (!tensor.requires_grad() || !options.is_optimized(item.key())) continue;
    if (!seen.insert(tensor.unsafeGetTensorImpl()).second) continue;
    groups[group_of(item.key(), tensor)].parameters.push_back({item.key(), tensor});
  }
  return groups;
}

}  // namespace dlcheck::reference
