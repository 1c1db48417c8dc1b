#include "reference/recipe/contradictions.h"

#include "reference/recipe/built_in_models.h"
#include "reference/recipe/rejection.h"

namespace dlcheck::reference {
namespace {

struct Contradiction {
  bool holds;
  const char* text;
};

std::vector<Contradiction> OfTraining(const Recipe& r) {
  const bool is_low = r.weights == "bf16";
  return {
      {r.nesterov && r.momentum == 0, "nesterov is true, but momentum is 0"},
      {is_low && r.autocast != "none", "weights is bf16, so autocast must be none"},
      {r.weights == "fp64" && r.autocast != "none", "weights is fp64, so autocast must be none"},
      {!is_low && !r.master_weights, "master-weights is false, but weights is not bf16"},
      {r.autocast == "fp16" && r.loss_scale == "off" && r.nonfinite == "keep",
       "autocast is fp16 and loss-scale is off, so nonfinite must be skip"},
      {r.autocast == "fp16" && r.device == "cpu" && r.model == "resnet",
       "autocast is fp16, but model resnet has no fp16 convolution on the cpu"},
      {r.tf32 && r.device == "cpu", "tf32 is true, but device is cpu"},
      {r.nproc > r.batch_size, "nproc is more than batch-size, and each rank needs a sample"},
      {r.zero_stage > 0 && r.gradient_clip_algorithm == "adaptive",
       "zero-stage is set, but gradient-clip-algorithm adaptive looks at whole rows of a weight"},
      {r.shard_group > 0 && r.zero_stage == 0, "shard-group is set, but zero-stage is 0"},
      {r.shard_group > 1 && r.nproc > 1 && r.nproc % r.shard_group != 0,
       "nproc is no multiple of shard-group"},
      {r.shard_group == 1, "shard-group is 1, and one rank alone has nothing to shard"},
      {r.compress_gradients == "bf16" && is_low,
       "compress-gradients is bf16, but weights is bf16, and so are their gradients"},
  };
}

std::vector<Contradiction> OfSchedule(const Recipe& r) {
  return {
      {r.warmup_steps > 0 && r.schedule == "one_cycle",
       "warmup-steps is set, but schedule one_cycle has its own warm-up"},
      {r.warmup_steps >= r.steps, "warmup-steps is not less than steps"},
      {r.horizon > 0 && r.warmup_steps >= r.horizon, "warmup-steps is not less than horizon"},
      {r.schedule == "one_cycle" && r.horizon > 0 && r.horizon < r.steps,
       "horizon is less than steps, but schedule one_cycle ends with its horizon"},
      {r.end_factor > 1 && (r.schedule == "cosine" || r.schedule == "cooldown"),
       "end-factor is above 1, but schedule cosine and cooldown only fall"},
      {r.end_factor > 1 && r.schedule == "cosine_restarts",
       "end-factor is above 1, but schedule cosine_restarts only falls between restarts"},
      {r.schedule == "multi_step" && r.milestones.empty(),
       "schedule is multi_step, but milestones is not set"},
      {!r.milestones.empty() && r.schedule != "multi_step",
       "milestones is set, but schedule is not multi_step"},
  };
}

std::vector<Contradiction> OfOptimizer(const Recipe& r) {
  const bool is_whole =
      r.optimizer == "adafactor" || r.optimizer == "muon" || r.optimizer == "lamb";
  const bool is_averaged = r.optimizer == "schedule_free";
  const bool has_nesterov = r.optimizer == "sgd" || r.optimizer == "muon";
  const bool is_adam = r.optimizer == "adam" || r.optimizer == "adamw";
  return {
      {r.nesterov && !has_nesterov, "nesterov is true, but optimizer is neither sgd nor muon"},
      {r.amsgrad && !is_adam, "amsgrad is true, but optimizer is neither adam nor adamw"},
      {r.centered && r.optimizer != "rmsprop", "centered is true, but optimizer is not rmsprop"},
      {r.zero_stage > 0 && is_whole,
       "zero-stage is set, but optimizer adafactor, muon and lamb look at whole weights"},
      {r.zero_stage > 0 && is_averaged,
       "zero-stage is set, but optimizer schedule_free evaluates averages of whole weights"},
      {r.optimizer == "muon" && r.model == "resnet",
       "optimizer is muon, but the hidden layers of resnet have no matrices"},
      {is_averaged && r.ema_decay > 0,
       "ema-decay is set, but optimizer schedule_free has averages of its own"},
      {is_averaged && r.weights == "bf16",
       "weights is bf16, but optimizer schedule_free averages its weights"},
  };
}

std::vector<Contradiction> OfArchitecture(const Recipe& r) {
  const bool is_gpt = r.model == "gpt", has_blocks = is_gpt || r.model == "vit";
  const int64_t width = r.width == 0 ? 128 : r.width;  // the own ones of gpt
  const int64_t heads = r.heads == 0 ? 4 : r.heads;
  return {
      {has_blocks && width % heads != 0, "width is no multiple of heads"},
      {has_blocks && r.kv_heads > 0 && heads % r.kv_heads != 0, "heads is no multiple of kv-heads"},
      {r.kv_heads > 0 && !has_blocks, "kv-heads is set, but model is neither gpt nor vit"},
      {r.stochastic_depth > 0 && !has_blocks && r.model != "resnet",
       "stochastic-depth is set, but model has no residual blocks"},
      {r.zero_init_residual && !has_blocks && r.model != "resnet",
       "zero-init-residual is true, but model has no residual blocks"},
      {r.ghost_batch_size > 0 && r.model != "resnet",
       "ghost-batch-size is set, but model is not resnet"},
      {r.ghost_batch_size > 0 && r.sync_batchnorm,
       "ghost-batch-size is set, but sync-batchnorm joins batches"},
      {r.model == "lstm" && r.zero_stage == 3,
       "zero-stage is 3, but the layers of lstm are one operator"},
      {is_gpt && r.position_embedding == "rotary" && width / heads % 2 != 0,
       "position-embedding is rotary, but width / heads is odd"},
  };
}

std::vector<Contradiction> OfModel(const Recipe& r) {
  const bool is_cross_entropy = r.loss == "cross_entropy";
  const bool has_classes = is_cross_entropy || r.loss == "focal";
  const bool is_text = TakesTokens(r.model);
  return {
      {is_text && !has_classes, "loss must be cross_entropy or focal, because model takes tokens"},
      {is_text && r.head_bias == "prior",
       "head-bias is prior, but the head of gpt and lstm has no bias"},
      {r.initialization == "zeros-head" && is_text && r.tie_embeddings,
       "initialization is zeros-head, but tie-embeddings is true"},
      {r.model == "unet" && r.loss != "mse" && r.loss != "huber",
       "loss must be mse or huber, because model unet tells noise"},
      {r.head_bias == "prior" && (r.loss == "nt_xent" || r.model == "unet"),
       "head-bias is prior, but loss nt_xent and model unet tell no classes"},
      {r.model == "unet" && r.dropout > 0, "dropout is set, but model unet has none"},
      {!IsBuiltIn(r.model) && r.dropout > 0, "dropout is set, but model is a file"},
      {!IsBuiltIn(r.model) && r.initialization != "auto",
       "initialization is set, but model is a file"},
      {!IsBuiltIn(r.model) && r.head_bias != "default", "head-bias is set, but model is a file"},
      {r.activation_checkpointing && r.model != "gpt",
       "activation-checkpointing is true, but model is not gpt"},
      {r.sync_batchnorm && r.model != "resnet", "sync-batchnorm is true, but model is not resnet"},
      {r.label_smoothing > 0 && !is_cross_entropy,
       "label-smoothing is set, but loss is not cross_entropy"},
      {r.z_loss > 0 && !is_cross_entropy, "z-loss is set, but loss is not cross_entropy"},
      {r.class_weights != "none" && !has_classes,
       "class-weights is set, but loss is neither cross_entropy nor focal"},
  };
}

std::vector<Contradiction> OfAugmentation(const Recipe& r) {
  const bool mixes = r.mixup > 0 || r.cutmix > 0;
  const bool changes = mixes || r.flip || r.crop_padding > 0;
  return {
      {changes && TakesTokens(r.model), "augmentation is of images, but model takes tokens"},
      {mixes && r.loss == "focal", "mixup or cutmix is set, but loss focal takes one class"},
      {mixes && (r.loss == "nt_xent" || r.model == "unet"),
       "mixup or cutmix is set, but loss nt_xent and model unet have no targets to mix"},
      {r.loss == "nt_xent" && !r.flip && r.crop_padding == 0,
       "loss nt_xent compares two views of an image: set flip or crop-padding"},
      {r.loss == "nt_xent" && r.nproc > 1,
       "loss nt_xent compares the views that one process has, but nproc is more than 1"},
      {mixes && r.class_weights != "none",
       "mixup or cutmix is set, but class-weights weighs samples of one class"},
  };
}

std::vector<Contradiction> OfRunControl(const Recipe& r) {
  const bool has_folder = !r.checkpoints.empty();
  return {
      {r.resume && !has_folder, "resume is true, but checkpoints names no folder"},
      {r.checkpoint_every > 0 && !has_folder,
       "checkpoint-every is set, but checkpoints names no folder"},
      {r.keep_best > 0 && !has_folder, "keep-best is set, but checkpoints names no folder"},
      {r.keep_best > 0 && r.checkpoint_every == 0, "keep-best is set, but checkpoint-every is 0"},
      {r.keep_best > 0 && r.checkpoint_every > 0 && r.checkpoint_every % r.evaluate_every != 0,
       "keep-best is set, but checkpoint-every is no multiple of evaluate-every"},
      {r.stop_after > 0 && !has_folder, "stop-after is set, but checkpoints names no folder"},
      {!r.export_to.empty() && r.zero_stage == 3,
       "export is set, but with zero-stage 3 no rank has the whole model"},
      {r.swa_start > 0 && r.ema_decay > 0, "swa-start is set, but ema-decay is set, too"},
      {r.swa_start > 0 && r.optimizer == "schedule_free",
       "swa-start is set, but optimizer schedule_free has averages of its own"},
      {r.swa_start > 0 && r.model == "resnet",
       "swa-start is set, but batch norms of resnet have the statistics of other weights"},
      {r.ema_buffers && r.ema_decay == 0, "ema-buffers is true, but ema-decay is 0"},
  };
}

}  // namespace

void RefuseContradictions(const Recipe& recipe) {
  for (const auto& contradictions :
       {OfTraining(recipe), OfSchedule(recipe), OfOptimizer(recipe), OfArchitecture(recipe),
        OfModel(recipe), OfAugmentation(recipe), OfRunControl(recipe)}) {
    for (const Contradiction& contradiction : contradictions) {
      if (contradiction.holds) throw UsageError(contradiction.text);
    }
  }
  RateFactorOf(recipe, "");
  MilestonesOf(recipe.milestones);
}

}  // namespace dlcheck::reference
