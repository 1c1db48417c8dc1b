#include "reference/recipe/contradictions.h"

#include "reference/recipe/rejection.h"

namespace dlcheck::reference {
namespace {

struct Contradiction {
  bool holds;
  const char* text;
};

std::vector<Contradiction> OfTraining(const Recipe& r) {
  const bool is_sgd = r.optimizer == "sgd";
  const bool is_low = r.weights == "bf16";
  return {
      {r.nesterov && !is_sgd, "nesterov is true, but optimizer is not sgd"},
      {r.nesterov && r.momentum == 0, "nesterov is true, but momentum is 0"},
      {r.warmup_steps > 0 && r.schedule == "one_cycle",
       "warmup-steps is set, but schedule one_cycle has its own warm-up"},
      {r.warmup_steps >= r.steps, "warmup-steps is not less than steps"},
      {r.horizon > 0 && r.warmup_steps >= r.horizon, "warmup-steps is not less than horizon"},
      {r.schedule == "one_cycle" && r.horizon > 0 && r.horizon < r.steps,
       "horizon is less than steps, but schedule one_cycle ends with its horizon"},
      {r.end_factor > 1 && (r.schedule == "cosine" || r.schedule == "cooldown"),
       "end-factor is above 1, but schedule cosine and cooldown only fall"},
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

std::vector<Contradiction> OfModel(const Recipe& r) {
  const bool is_cross_entropy = r.loss == "cross_entropy";
  const bool is_gpt = r.model == "gpt";
  const int64_t width = r.width == 0 ? 128 : r.width;  // the own ones of gpt
  const int64_t heads = r.heads == 0 ? 4 : r.heads;
  return {
      {is_gpt && !is_cross_entropy, "loss must be cross_entropy, because model is gpt"},
      {is_gpt && width % heads != 0, "width is no multiple of heads"},
      {is_gpt && r.position_embedding == "rotary" && width / heads % 2 != 0,
       "position-embedding is rotary, but width / heads is odd"},
      {is_gpt && r.head_bias == "prior", "head-bias is prior, but the head of gpt has no bias"},
      {r.initialization == "zeros-head" && is_gpt && r.tie_embeddings,
       "initialization is zeros-head, but tie-embeddings is true"},
      {!IsBuiltIn(r.model) && r.dropout > 0, "dropout is set, but model is a file"},
      {!IsBuiltIn(r.model) && r.initialization != "auto",
       "initialization is set, but model is a file"},
      {!IsBuiltIn(r.model) && r.head_bias != "default", "head-bias is set, but model is a file"},
      {r.activation_checkpointing && r.model != "gpt",
       "activation-checkpointing is true, but model is not gpt"},
      {r.sync_batchnorm && r.model != "resnet", "sync-batchnorm is true, but model is not resnet"},
      {r.label_smoothing > 0 && !is_cross_entropy,
       "label-smoothing is set, but loss is not cross_entropy"},
      {r.class_weights != "none" && !is_cross_entropy,
       "class-weights is set, but loss is not cross_entropy"},
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
      {r.ema_buffers && r.ema_decay == 0, "ema-buffers is true, but ema-decay is 0"},
  };
}

}  // namespace

void RefuseContradictions(const Recipe& recipe) {
  for (const auto& contradictions : {OfTraining(recipe), OfModel(recipe), OfRunControl(recipe)}) {
    for (const Contradiction& contradiction : contradictions) {
      if (contradiction.holds) throw UsageError(contradiction.text);
    }
  }
}

}  // namespace dlcheck::reference
