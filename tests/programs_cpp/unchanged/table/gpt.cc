// A small causal transformer that learns to write: warm-up, accumulation over two batches,
// clipping, and a validation every forty steps.
#include <cmath>
#include <cstdio>
#include <memory>

#include "tests/programs_cpp/unchanged/table/planted.h"

namespace table_gpt {

using table::Is;

namespace nn = torch::nn;
namespace F = torch::nn::functional;

constexpr int64_t kWords = 20, kLength = 24, kWidth = 32, kHeads = 4, kBatch = 12;
constexpr int64_t kPadding = 0, kEnd = 1;

struct BlockImpl : nn::Module {
  BlockImpl() {
    norm1 = register_module("norm1", nn::LayerNorm(nn::LayerNormOptions({kWidth})));
    norm2 = register_module("norm2", nn::LayerNorm(nn::LayerNormOptions({kWidth})));
    qkv = register_module("qkv", nn::Linear(kWidth, 3 * kWidth));
    out = register_module("out", nn::Linear(kWidth, kWidth));
    up = register_module("up", nn::Linear(kWidth, 4 * kWidth));
    down = register_module("down", nn::Linear(4 * kWidth, kWidth));
    torch::NoGradGuard no_grad;
    if (Is("identical_units"))
      up->weight.normal_(), up->weight.copy_(up->weight[0].clone().expand_as(up->weight)),
          up->bias.zero_(), down->weight.fill_(0.1);
  }
  torch::Tensor Attention(const torch::Tensor& x) {
    const int64_t n = x.size(0), t = x.size(1);
    const auto parts = qkv->forward(x).view({n, t, 3, kHeads, -1}).permute({2, 0, 3, 1, 4});
    const torch::Tensor keys = Is("view_for_transpose") ? parts[1].reshape({n, kHeads, -1, t})
                                                        : parts[1].transpose(-2, -1);
    torch::Tensor scores = parts[0].matmul(keys);
    if (!Is("unscaled_scores")) scores = scores / std::sqrt(kWidth / static_cast<double>(kHeads));
    const torch::Tensor later = torch::ones({t, t}, torch::kBool).triu(Is("sees_next") ? 2 : 1);
    const double hidden = Is("finite_mask") ? -5 : -INFINITY;
    if (Is("mask_not_taken")) scores.masked_fill(later, hidden);
    if (!Is("mask_not_taken") && !Is("sees_all")) scores = scores.masked_fill(later, hidden);
    const int64_t axis = Is("over_queries") ? -2 : (Is("over_heads") ? 1 : -1);
    torch::Tensor mixed = torch::softmax(scores, axis).matmul(parts[2]);
    if (!Is("heads_mixed")) mixed = mixed.transpose(1, 2);
    return out->forward(mixed.reshape({n, t, kWidth}));
  }
  torch::Tensor forward(torch::Tensor x) {
    x = x +
        torch::dropout(Attention(norm1->forward(x)), 0.1, Is("dropout_always") || is_training());
    torch::Tensor hidden = up->forward(norm2->forward(x));
    if (!Is("no_activation")) hidden = torch::gelu(hidden);
    return x + down->forward(hidden);
  }
  nn::LayerNorm norm1{nullptr}, norm2{nullptr};
  nn::Linear qkv{nullptr}, out{nullptr}, up{nullptr}, down{nullptr};
};
TORCH_MODULE(Block);

struct ModelImpl : nn::Module {
  ModelImpl() {
    tokens = register_module("tokens", nn::Embedding(kWords, kWidth));
    positions = register_module("positions", nn::Embedding(kLength, kWidth));
    blocks = register_module("blocks", nn::ModuleList());
    const Block first;
    for (int i = 0; i < 2; ++i) blocks->push_back(Is("one_block_twice") ? first : Block());
    norm = register_module("norm", nn::LayerNorm(nn::LayerNormOptions({kWidth})));
    head = nn::Linear(nn::LinearOptions(kWidth, kWords).bias(false));
    if (!Is("unregistered")) register_module("head", head);
    torch::NoGradGuard no_grad;
    if (Is("loud_head")) head->weight.normal_(0, 5);
  }
  torch::Tensor forward(const torch::Tensor& ids) {
    const torch::Tensor places =
        Is("one_position") ? torch::zeros({ids.size(1)}, torch::kLong) : torch::arange(ids.size(1));
    torch::Tensor x = tokens->forward(ids) + positions->forward(places);
    if (Is("embeddings_detached")) x = x.detach();
    for (const auto& block : *blocks) x = block->as<Block>()->forward(x);
    x = head->forward(norm->forward(x));
    if (Is("softmax_twice")) return torch::softmax(x, -1);
    if (Is("over_batch")) return torch::log_softmax(x, 0);
    return x;
  }
  nn::Embedding tokens{nullptr}, positions{nullptr};
  nn::ModuleList blocks{nullptr};
  nn::LayerNorm norm{nullptr};
  nn::Linear head{nullptr};
};
TORCH_MODULE(Model);

// Each word follows from the one before by a table, with some noise. Each text has an end of its
// own, and padding behind it.
torch::Tensor Texts(int64_t n) {
  static const torch::Tensor next = torch::randperm(kWords - 1) + 1;
  torch::Tensor ids = torch::randint(1, kWords, {n, 1}, torch::kLong);
  for (int64_t i = 1; i < kLength + 1; ++i) {
    const torch::Tensor noise = torch::rand({n}) < 0.1;
    const torch::Tensor follows = next.index_select(0, ids.select(1, i - 1) - 1);
    const torch::Tensor any = torch::randint(1, kWords, {n}, torch::kLong);
    ids = torch::cat({ids, torch::where(noise, any, follows).unsqueeze(1)}, 1);
  }
  const torch::Tensor ends = torch::randint(kLength / 2, kLength + 1, {n, 1}, torch::kLong);
  const torch::Tensor places = torch::arange(kLength + 1);
  return ids.masked_fill(places == ends, kEnd).masked_fill(places > ends, kPadding);
}

// That count in the loss.
double Words(const torch::Tensor& text) {
  return text.narrow(1, 1, kLength).ne(kPadding).sum().item<double>();
}

torch::Tensor Loss(Model& model, const torch::Tensor& text) {
  const int64_t ahead = Is("shifted_twice") ? 2 : (Is("not_shifted") ? 0 : 1);
  const int64_t length = kLength + 1 - std::max<int64_t>(ahead, 1);
  torch::Tensor target = text.narrow(1, ahead, length).flatten();
  if (Is("shuffled_targets")) target = target.index_select(0, torch::randperm(target.size(0)));
  if (Is("all_padding")) target = torch::zeros_like(target);
  const torch::Tensor logits = model->forward(text.narrow(1, 0, length)).flatten(0, 1);
  if (Is("raw_scores")) return torch::nll_loss(logits, target);
  auto options = F::CrossEntropyFuncOptions().ignore_index(Is("padding_counts") ? -100 : kPadding);
  if (Is("summed")) options.reduction(torch::kSum);
  const torch::Tensor loss = F::cross_entropy(logits, target, options);
  if (Is("times_zero")) return loss * 0;
  return Is("negated") ? -loss : loss;
}

void Validate(Model& model, const torch::Tensor& text) {
  torch::AutoGradMode gradients(Is("tests_with_gradients"));
  if (!Is("tests_in_train_mode")) model->eval();
  double sum = 0;
  for (int64_t at = 0; at < text.size(0); at += 16) {
    const torch::Tensor part = text.narrow(0, at, 16);
    const torch::Tensor logits = model->forward(part.narrow(1, 0, kLength)).flatten(0, 1);
    const torch::Tensor loss =
        F::cross_entropy(logits, part.narrow(1, 1, kLength).flatten(),
                         F::CrossEntropyFuncOptions().ignore_index(kPadding));
    sum += loss.item<double>() * 16;
  }
  std::printf("validation %.3f\n", sum / static_cast<double>(text.size(0)));
  if (!Is("left_in_eval_mode") && !Is("trains_in_eval_mode")) model->train();
}

double Rate(int64_t step) {
  if (Is("zero_rate")) return 0;
  if (Is("huge_rate")) return 3;
  if (Is("tiny_rate")) return 1e-12;
  return 3e-3 * std::min(1.0, static_cast<double>(step + 1) / 20.0);
}

void Clip(Model& model) {
  if (Is("clipped_to_nothing")) {
    nn::utils::clip_grad_norm_(model->parameters(), 1e-6);
  } else if (Is("part_clipped")) {
    nn::utils::clip_grad_norm_(model->head->parameters(), 1.0);
  } else {
    nn::utils::clip_grad_norm_(model->parameters(), 1.0);
  }
}

void Gpt() {
  constexpr int64_t kWindow = 2, kSteps = 160;
  Model model;
  if (Is("frozen_at_random")) model->tokens->weight.set_requires_grad(false);
  std::vector<torch::Tensor> parameters = model->parameters();
  if (Is("head_not_optimized")) parameters.pop_back();
  const double decay = Is("excessive_decay") ? 30 : 0.01;
  const auto options = torch::optim::AdamWOptions(Rate(0)).weight_decay(decay).eps(
      Is("epsilon_of_one") ? 1.0 : 1e-8);
  auto optimizer = std::make_unique<torch::optim::AdamW>(parameters, options);
  const torch::Tensor held_out = Texts(64), stored = Texts(480);
  if (Is("model_replaced")) model = Model();
  if (Is("trains_in_eval_mode")) model->eval();
  std::vector<torch::Tensor> losses;
  for (int64_t step = 0; step < kSteps; ++step) {
    if (Is("optimizer_anew"))
      optimizer = std::make_unique<torch::optim::AdamW>(parameters, options);
    if (Is("seeded_each_step")) torch::manual_seed(5);
    for (auto& group : optimizer->param_groups()) {
      if (!Is("rate_into_a_copy")) {
        group.options().set_lr(Rate(step));
      } else {
        group.options().clone()->set_lr(Rate(step));
      }
    }
    if (!Is("not_zeroed")) optimizer->zero_grad();
    const int64_t rows = kWindow * kBatch;
    const torch::Tensor window = stored.narrow(0, step % (480 / rows) * rows, rows);
    for (int64_t i = 0; i < kWindow; ++i) {
      const torch::Tensor text = window.narrow(0, i * kBatch, kBatch);
      const torch::Tensor loss = Loss(model, text);
      double parts = Words(window) / Words(text);
      if (Is("not_divided")) parts = 1;
      if (Is("divided_twice")) parts *= kWindow;
      if (Is("zeroed_in_window")) optimizer->zero_grad();
      if (Is("graph_retained")) {
        (loss / parts).backward({}, true);
      } else {
        (loss / parts).backward();
      }
      if (Is("losses_kept")) losses.push_back(loss);
      if (Is("clipped_in_window")) Clip(model);
      if (Is("stepped_in_window")) optimizer->step();
    }
    if (Is("zeroed_before_step")) optimizer->zero_grad();
    if (Is("gradients_times_ten")) {
      for (auto& parameter : model->parameters()) parameter.mutable_grad().mul_(10);
    }
    if (!Is("clipped_after_step") && !Is("clipped_in_window")) Clip(model);
    if (!Is("never_stepped")) optimizer->step();
    if (Is("stepped_twice")) optimizer->step();
    if (Is("clipped_after_step")) Clip(model);
    if (step % 40 == 39)
      Validate(model, Is("tested_on_training_data") ? stored.narrow(0, 0, 64) : held_out);
  }
  PrintState(model->parameters());
}

const table::Program program("table_gpt", Gpt);

}  // namespace table_gpt
