#include "reference/training/training.h"

#include <chrono>
#include <utility>

#include "reference/distributed/process_group/nccl_backend.h"
#include "reference/distributed/zero/joined_norm.h"
#include "reference/faults/step_faults.h"
#include "reference/models/hosted_model.h"
#include "reference/models/resnet.h"
#include "reference/recipe/rejection.h"
#include "reference/training/build_optimizer.h"
#include "reference/training/weights_file.h"

namespace dlcheck::reference {
namespace {

constexpr int64_t kAhead = 4;  // micro-batches that are made ready

LossOptions LossOf(const Plan& plan, const Dataset& data, const at::Device& device) {
  const Recipe& recipe = plan.recipe;
  LossOptions loss;
  if (recipe.loss == "bce") loss.kind = LossOptions::Kind::kBce;
  if (recipe.loss == "mse") loss.kind = LossOptions::Kind::kMse;
  if (recipe.loss == "huber") loss.kind = LossOptions::Kind::kHuber;
  if (recipe.loss == "focal") loss.kind = LossOptions::Kind::kFocal;
  if (recipe.loss == "nt_xent") loss.kind = LossOptions::Kind::kNtXent;
  loss.temperature = recipe.temperature;
  loss.focal_gamma = recipe.focal_gamma;
  loss.z_loss = recipe.z_loss;
  if (recipe.reduction == "sample") loss.unit = LossOptions::Unit::kSample;
  loss.huber_delta = recipe.huber_delta;
  loss.label_smoothing = recipe.label_smoothing;
  loss.ignore_index = recipe.ignore_index;
  loss.deviation = plan.deviations.loss;
  if (recipe.class_weights == "balanced") {
    const torch::Tensor counts =
        CountTargets(*data.train, data.classes).clamp_min(1).to(torch::kFloat);
    // Losses of bf16 outputs are worked out in fp32.
    const at::ScalarType type = at::promote_types(WeightType(recipe), at::kFloat);
    loss.class_weights = (counts.sum() / (counts * counts.numel())).to(device, type);
  }
  return loss;
}

at::ScalarType AutocastType(const Plan& plan) {
  if (plan.deviations.autocast_left_out) return at::kFloat;
  if (plan.recipe.autocast == "bf16") return at::kBFloat16;
  return plan.recipe.autocast == "fp16" ? at::kHalf : at::kFloat;
}

BatchNormFunction BatchNormOf(const Plan& plan, const Ranks& ranks) {
  if (const int64_t size = plan.recipe.ghost_batch_size; size > 0) {
    return [size](torch::nn::BatchNorm2dImpl& norm, const torch::Tensor& x) {
      return GhostNorm(norm, x, size);
    };
  }
  if (!plan.recipe.sync_batchnorm || !ranks.are_many()) return ModelOptions().batch_norm;
  const bool own_gradients = plan.deviations.ranks == RanksDeviation::kOwnNormGradients;
  return [=](torch::nn::BatchNorm2dImpl& norm, const torch::Tensor& x) {
    return JoinedNorm(ranks, norm, x, own_gradients);
  };
}

int64_t OutputsOf(const Recipe& recipe, const Dataset& data) {
  return recipe.loss == "nt_xent" ? recipe.projection : data.classes;
}

ModelOptions OptionsOf(const Plan& plan, const Dataset& data, const Ranks& ranks) {
  const Recipe& recipe = plan.recipe;
  ModelOptions options;
  options.name = recipe.model;
  options.sample_shape = data.sample_shape;
  options.outputs = OutputsOf(recipe, data);
  options.width = recipe.width;
  options.depth = recipe.depth;
  options.heads = recipe.heads;
  options.kv_heads = recipe.kv_heads;
  options.patch = recipe.patch;
  options.stochastic_depth = recipe.stochastic_depth;
  options.zero_init_residual = recipe.zero_init_residual;
  options.dropout = recipe.dropout;
  options.initialization = recipe.initialization == "auto" ? "" : recipe.initialization;
  options.context = recipe.context;
  options.vocabulary = data.classes;
  options.norm = recipe.norm;
  options.activation = recipe.activation;
  options.position_embedding = recipe.position_embedding;
  options.tie_embeddings = recipe.tie_embeddings;
  options.checkpoint_blocks = recipe.activation_checkpointing;
  options.batch_norm = BatchNormOf(plan, ranks);
  options.between = plan.features;
  options.attention_deviation = plan.deviations.attention;
  options.tying_deviation = plan.deviations.tying;
  options.checkpoint_deviation = plan.deviations.recomputation;
  return options;
}

// The first outputs have the mean of the targets: for one-hot targets the share of each class.
void SetPriorBias(const Recipe& recipe, const Dataset& data, Model& model) {
  if (recipe.head_bias != "prior") return;
  const torch::Tensor counts = CountTargets(*data.train, data.classes);
  if (recipe.loss == "cross_entropy" || recipe.loss == "focal")
    return SetHeadBias(model, LogPrior(counts));
  const torch::Tensor shares = counts.to(torch::kFloat) / counts.sum();
  SetHeadBias(model, recipe.loss == "bce" ? shares.logit(1e-6) : shares);
}

// Of a loss, and of what is set by the share of each class.
void NeedNumbers(const Recipe& recipe, const Dataset& data) {
  if (recipe.loss == "cross_entropy" || recipe.loss == "focal") {
    throw UsageError("loss is " + recipe.loss +
                     ", but the targets of data are numbers: set loss to mse, huber or bce");
  }
  if (recipe.head_bias == "prior") {
    throw UsageError("head-bias is prior, but the targets of data are numbers");
  }
  if (recipe.loss != "bce") return;
  const auto [least, largest] = RangeOfTargets(*data.train);
  if (least < 0 || largest > 1) {
    throw UsageError("loss is bce, but data has a target of " +
                     std::to_string(least < 0 ? least : largest) +
                     ", which is no probability: set loss to mse or huber");
  }
}

Model BuildModel(const Plan& plan, const Observer& observer, const Dataset& data,
                 const Ranks& ranks, const at::Device& device) {
  const Recipe& recipe = plan.recipe;
  torch::manual_seed(static_cast<uint64_t>(recipe.seed_weights.value_or(recipe.seed)));
  Tell(observer.seeded, recipe.seed);
  if (data.has_numbers) NeedNumbers(recipe, data);
  if (!IsBuiltIn(recipe.model)) plan.preflight(recipe, data.sample_shape, OutputsOf(recipe, data));
  Model model = IsBuiltIn(recipe.model)
                    ? MakeModel(OptionsOf(plan, data, ranks))
                    : HostModel(recipe.model, data.sample_shape, OutputsOf(recipe, data));
  SetPriorBias(recipe, data, model);
  if (!recipe.init_from.empty()) InitializeFrom(*model.module, recipe.init_from);
  plan.initialize(*model.module);
  if (recipe.weights != "fp32") model.module->to(WeightType(recipe));
  model.module->to(device);
  model.module->train();
  if (ranks.are_many()) StartAlike(ranks, *model.module);
  return model;
}

std::unique_ptr<LossScaler> BuildScaler(const Plan& plan, const at::Device& device,
                                        const Ranks& ranks) {
  const Recipe& recipe = plan.recipe;
  LossScaler::Options options;
  options.enabled = ScalesLoss(recipe);
  options.initial_scale = recipe.initial_scale;
  options.growth_interval = recipe.growth_interval;
  options.device = device;
  options.deviation = plan.deviations.scaler;
  const bool agrees = plan.deviations.ranks != RanksDeviation::kOwnInfinity;
  if (ranks.are_many() && recipe.zero_stage > 0 && agrees) {
    options.agree = [ranks](double found) { return ranks.Largest(found); };
  }
  return std::make_unique<LossScaler>(options);
}

std::unique_ptr<Average> BuildAverage(const Plan& plan, const Model& model,
                                      const Shards* model_shards) {
  const Recipe& recipe = plan.recipe;
  if (recipe.ema_decay == 0 && recipe.swa_start == 0) return nullptr;
  return std::make_unique<Average>(
      *model.module,
      Average::Options{recipe.ema_decay, recipe.swa_start > 0, recipe.ema_buffers,
                       plan.deviations.average},
      [&](const torch::Tensor& parameter) { return KeptOf(model_shards, parameter); });
}

Augmentation::Options AugmentationOf(const Recipe& recipe, const Dataset& data) {
  Augmentation::Options options;
  options.crop_padding = recipe.crop_padding;
  options.flip = recipe.flip;
  options.mixup = recipe.mixup;
  options.cutmix = recipe.cutmix;
  options.seed = static_cast<uint64_t>(recipe.seed_augmentation.value_or(recipe.seed));
  options.classes = data.classes;
  const Augmentation augmentation(options);
  if (augmentation.changes() && data.sample_shape.size() != 3) {
    throw UsageError("augmentation is of images, but samples have no channels, height and width");
  }
  if (augmentation.mixes() && data.has_numbers) {
    throw UsageError("mixup or cutmix is set, but the targets of data are numbers");
  }
  return options;
}

std::unique_ptr<Batches> BuildBatches(const Plan& plan, const Dataset& data, const Ranks& ranks) {
  const Recipe& recipe = plan.recipe;
  Batches::Options options;
  options.batch_size = recipe.batch_size;
  options.accumulate = recipe.gradient_accumulation_steps;
  options.keep_last = !recipe.drop_last;
  options.shuffle = recipe.shuffle;
  options.seed = plan.order_seed(static_cast<uint64_t>(recipe.seed_order.value_or(recipe.seed)));
  const bool takes_own = plan.deviations.ranks != RanksDeviation::kSameRows;
  options.rank = takes_own ? ranks.rank() : 0;
  options.world = ranks.world();
  options.augmentation = AugmentationOf(recipe, data);
  if (recipe.loss == "nt_xent") {
    if (ranks.are_many()) throw UsageError("loss nt_xent compares the views of one process alone");
    options.objective = Objective::kContrastive;
  }
  if (recipe.model == "unet") options.objective = Objective::kDiffusion;
  return std::make_unique<Batches>(data.train, options);
}

std::vector<double> BaseRates(const Optimizer& optimizer) {
  std::vector<double> rates;
  for (const Optimizer::Group& group : optimizer.groups()) rates.push_back(group.lr);
  return rates;
}

// Of ranks on one machine each has a GPU of its own, as far as there are as many.
at::Device DeviceOf(const Recipe& recipe, const Ranks& ranks) {
  at::set_num_threads(static_cast<int>(recipe.threads));
  if (recipe.device == "cpu") return at::kCPU;
  if (!torch::cuda::is_available()) throw UsageError("device is cuda, but there is none");
  at::globalContext().setAllowTF32CuBLAS(recipe.tf32);
  at::globalContext().setAllowTF32CuDNN(recipe.tf32);
  const auto count = static_cast<int64_t>(torch::cuda::device_count());
  const at::Device device(at::kCUDA, static_cast<c10::DeviceIndex>(ranks.rank() % count));
  c10::impl::VirtualGuardImpl(at::kCUDA).setDevice(device);
  // A backward pass stays in the thread that asks for it: it is watched there, and ranks that are
  // threads wait for each other there.
  if (ranks.are_many()) c10::AutogradState::get_tls_state().set_multithreading_enabled(false);
  return device;
}

// Who shares out with whom, and by which way.
ShardGroups GroupsOf(const Recipe& recipe, const Ranks& ranks) {
  const ShardGroups groups = ShardGroupsOf(ranks, recipe.shard_group);
  for (const Ranks& group : {groups.all, groups.within, groups.across}) {
    if (recipe.device == "cuda" && group.are_many()) {
      ReachGpus(group, std::chrono::seconds(recipe.collective_timeout));
    }
  }
  return groups;
}

void SeedDropout(const Recipe& recipe, const Ranks& ranks) {
  // Far apart, so that no rank has what another has with the next seed.
  constexpr uint64_t kApart = 0x9e3779b97f4a7c15;
  torch::manual_seed(static_cast<uint64_t>(recipe.seed_dropout.value_or(recipe.seed)) +
                     static_cast<uint64_t>(ranks.rank()) * kApart);
}

}  // namespace

at::ScalarType WeightType(const Recipe& recipe) {
  if (recipe.weights == "bf16") return at::kBFloat16;
  return recipe.weights == "fp64" ? at::kDouble : at::kFloat;
}

Training BuildTraining(const Plan& given, const Observer& observer, const Ranks& ranks) {
  const Plan plan = WithEditsOfRanks(given);
  const Recipe& recipe = plan.recipe;
  const at::Device device = DeviceOf(recipe, ranks);
  const ShardGroups groups = GroupsOf(recipe, ranks);
  Dataset data = plan.data ? *plan.data : LoadData(plan);
  Model model = BuildModel(plan, observer, data, ranks, device);
  std::unique_ptr<Shards> shards = BuildShards(plan, groups, model);
  std::unique_ptr<GradientSharing> sharing = BuildSharing(plan, groups, model, shards.get());
  data.mean_image = data.mean_image.to(device);
  const LossOptions loss = LossOf(plan, data, device);
  std::unique_ptr<Optimizer> optimizer = BuildOptimizer(plan, model, shards.get());
  std::vector<double> base_rates = BaseRates(*optimizer);
  std::unique_ptr<Batches> batches = BuildBatches(plan, data, ranks);
  auto prefetch = std::make_unique<Prefetch>(*batches, recipe.prefetch_threads, kAhead);
  auto sharded_parameters = BuildShardedParameters(plan, observer, ranks, shards.get());
  auto average = BuildAverage(plan, model, sharded_parameters ? shards.get() : nullptr);
  SeedDropout(recipe, ranks);
  return Training{plan,
                  observer,
                  device,
                  Inputs{std::move(data), std::move(batches), std::move(prefetch)},
                  Distributed{ranks, BuildNormOfAll(plan, shards.get()), std::move(shards),
                              std::move(sharded_parameters), std::move(sharing)},
                  std::move(model),
                  loss,
                  AutocastType(plan),
                  std::move(optimizer),
                  std::move(base_rates),
                  BuildSchedule(recipe, plan.deviations.schedule),
                  BuildSchedule(recipe, ScheduleDeviation::kNone),
                  BuildScaler(plan, device, ranks),
                  std::move(average),
                  Progress(recipe.steps, /*is_silent=*/plan.is_silent || !ranks.is_first())};
}

}  // namespace dlcheck::reference
