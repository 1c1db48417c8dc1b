// What the ranks of a run share, as its recipe has it; nothing of a run that is alone.
#pragma once

#include <functional>
#include <memory>

#include "reference/distributed/ddp/gradient_sharing.h"
#include "reference/distributed/zero/shard_groups.h"
#include "reference/distributed/zero/sharded_parameters.h"
#include "reference/distributed/zero/shards.h"
#include "reference/models/models.h"
#include "reference/training/observer.h"
#include "reference/training/plan.h"

namespace dlcheck::reference {

// None where every rank keeps everything.
std::unique_ptr<Shards> BuildShards(const Plan& plan, const ShardGroups& groups,
                                    const Model& model);

// None where the model stays whole. All ranks call. `shards` outlives the result.
std::unique_ptr<ShardedParameters> BuildShardedParameters(const Plan& plan,
                                                          const Observer& observer,
                                                          const Ranks& ranks, const Shards* shards);

// The p-norm of the parts of all ranks together, from that of this rank's part. All ranks call.
using NormOfAll = std::function<double(double own, double p)>;

// None where every rank has all gradients. `shards` outlives the result.
NormOfAll BuildNormOfAll(const Plan& plan, const Shards* shards);

// `model` and `shards` outlive the result.
std::unique_ptr<GradientSharing> BuildSharing(const Plan& plan, const ShardGroups& groups,
                                              const Model& model, const Shards* shards);

}  // namespace dlcheck::reference
