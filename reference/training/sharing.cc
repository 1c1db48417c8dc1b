#include "reference/training/sharing.h"

#include <cmath>
#include <limits>

#include "reference/distributed/ddp/replicas.h"
#include "reference/distributed/ddp/trained_parameters.h"
#include "reference/distributed/zero/model_blocks.h"
#include "reference/distributed/zero/sharded_gradients.h"

namespace dlcheck::reference {

std::unique_ptr<Shards> BuildShards(const Plan& plan, const ShardGroups& groups,
                                    const Model& model) {
  if (!groups.all.are_many() || plan.recipe.zero_stage == 0) return nullptr;
  const auto trained = TrainedParameters(*model.module);
  return std::make_unique<Shards>(
      groups.within, trained,
      plan.recipe.zero_stage == 3 ? BlocksOf(*model.module, trained) : std::vector<int64_t>());
}

std::unique_ptr<ShardedParameters> BuildShardedParameters(const Plan& plan,
                                                          const Observer& observer,
                                                          const Ranks& ranks,
                                                          const Shards* shards) {
  if (shards == nullptr || plan.recipe.zero_stage < 3) return nullptr;
  // Whoever watches the model may look at any time; and what is never put together stays as it was.
  const bool is_left = plan.deviations.ranks == RanksDeviation::kNotPutTogether;
  const bool stay_whole = ranks.Largest(observer.model || is_left ? 1 : 0) > 0;
  return std::make_unique<ShardedParameters>(*shards, stay_whole);
}

NormOfAll BuildNormOfAll(const Plan& plan, const Shards* shards) {
  if (shards == nullptr || plan.deviations.ranks == RanksDeviation::kNormOfPart) return nullptr;
  return [shards](double own, double p) {
    const Ranks& ranks = shards->ranks();
    // A largest number need not show what is none.
    if (ranks.Largest(std::isnan(own) ? 1 : 0) > 0) return std::nan("");
    if (std::isinf(p)) return ranks.Largest(own);
    return std::pow(ranks.Sum(std::pow(own, p)), 1 / p);
  };
}

std::unique_ptr<GradientSharing> BuildSharing(const Plan& plan, const ShardGroups& groups,
                                              const Model& model, const Shards* shards) {
  if (!groups.all.are_many()) return nullptr;
  // A model of the user's may have parameters that take no part in a step.
  const bool finds_unused = !IsBuiltIn(plan.recipe.model);
  const bool compresses = plan.recipe.compress_gradients == "bf16";
  if (plan.recipe.zero_stage >= 2) {
    return std::make_unique<ShardedGradients>(groups, *model.module, *shards,
                                              ShardedGradients::Options{finds_unused, compresses});
  }
  Replicas::Options options;
  constexpr int64_t kMebibyte = 1 << 20;
  const int64_t bytes = plan.recipe.bucket_mib * kMebibyte;
  options.bucket_bytes = bytes == 0 ? std::numeric_limits<int64_t>::max() : bytes;
  if (bytes == 0) options.first_bucket_bytes = options.bucket_bytes;
  options.finds_unused = finds_unused;
  options.takes_buffers = plan.deviations.ranks != RanksDeviation::kOwnBuffers;
  options.compresses = compresses;
  return std::make_unique<Replicas>(groups.all, *model.module, options);
}

}  // namespace dlcheck::reference
