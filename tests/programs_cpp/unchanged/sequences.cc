// A recurrent classifier and a small causal transformer with its own attention.
#include <cmath>
#include <cstdio>

#include "tests/programs_cpp/unchanged/programs.h"

namespace sequences {

namespace nn = torch::nn;
namespace F = torch::nn::functional;

struct BlockImpl : nn::Module {
  BlockImpl(int64_t width, int64_t heads, bool mixes_heads)
      : heads_(heads), mixes_heads_(mixes_heads) {
    norm1 = register_module("norm1", nn::LayerNorm(nn::LayerNormOptions({width})));
    norm2 = register_module("norm2", nn::LayerNorm(nn::LayerNormOptions({width})));
    qkv = register_module("qkv", nn::Linear(width, 3 * width));
    out = register_module("out", nn::Linear(width, width));
    up = register_module("up", nn::Linear(width, 4 * width));
    down = register_module("down", nn::Linear(4 * width, width));
  }
  torch::Tensor forward(torch::Tensor x) {
    const int64_t n = x.size(0), t = x.size(1), width = x.size(2);
    const auto parts = qkv->forward(norm1->forward(x))
                           .view({n, t, 3, heads_, width / heads_})
                           .permute({2, 0, 3, 1, 4});
    torch::Tensor scores = parts[0].matmul(parts[1].transpose(-2, -1)) /
                           std::sqrt(static_cast<double>(width / heads_));
    scores = scores.masked_fill(torch::ones({t, t}).triu(1).to(torch::kBool), -INFINITY);
    torch::Tensor mixed = torch::softmax(scores, -1).matmul(parts[2]);
    if (!mixes_heads_) mixed = mixed.transpose(1, 2);
    x = x + out->forward(mixed.reshape({n, t, width}));
    return x + down->forward(torch::gelu(up->forward(norm2->forward(x))));
  }
  int64_t heads_;
  bool mixes_heads_;
  nn::LayerNorm norm1{nullptr}, norm2{nullptr};
  nn::Linear qkv{nullptr}, out{nullptr}, up{nullptr}, down{nullptr};
};
TORCH_MODULE(Block);

struct GptImpl : nn::Module {
  GptImpl(int64_t words, int64_t length, int64_t width, bool mixes_heads) {
    tokens = register_module("tokens", nn::Embedding(words, width));
    positions = register_module("positions", nn::Embedding(length, width));
    blocks = register_module("blocks", nn::ModuleList());
    for (int i = 0; i < 2; ++i) blocks->push_back(Block(width, 2, mixes_heads));
    norm = register_module("norm", nn::LayerNorm(nn::LayerNormOptions({width})));
    head = register_module("head", nn::Linear(nn::LinearOptions(width, words).bias(false)));
  }
  torch::Tensor forward(const torch::Tensor& ids) {
    torch::Tensor x = tokens->forward(ids) + positions->forward(torch::arange(ids.size(1)));
    for (const auto& block : *blocks) x = block->as<Block>()->forward(x);
    return head->forward(norm->forward(x));
  }
  nn::Embedding tokens{nullptr}, positions{nullptr};
  nn::ModuleList blocks{nullptr};
  nn::LayerNorm norm{nullptr};
  nn::Linear head{nullptr};
};
TORCH_MODULE(Gpt);

// Each sign follows from the one before by a table, with some noise.
torch::Tensor Texts(int64_t n, int64_t length) {
  static const torch::Tensor next = torch::randperm(16);
  torch::Tensor ids = torch::randint(16, {n, 1}, torch::kLong);
  for (int64_t i = 1; i < length; ++i) {
    const torch::Tensor last = ids.select(1, i - 1);
    const torch::Tensor noise = torch::rand({n}) < 0.1;
    ids = torch::cat(
        {ids, torch::where(noise, torch::randint(16, {n}, torch::kLong), next.index_select(0, last))
                  .unsqueeze(1)},
        1);
  }
  return ids;
}

void Writes(const Arguments& arguments) {
  Gpt gpt(16, 24, 32, arguments.Is("mixed_heads"));
  torch::optim::AdamW optimizer(gpt->parameters(),
                                torch::optim::AdamWOptions(3e-3).weight_decay(0.01));
  for (int step = 0; step < 150; ++step) {
    const torch::Tensor text = Texts(16, 24);
    const int64_t ahead = arguments.Is("shifted_twice") ? 2 : 1;
    const torch::Tensor in = text.narrow(1, 0, 24 - ahead);
    const torch::Tensor target = text.narrow(1, ahead, 24 - ahead);
    for (auto& group : optimizer.param_groups())
      group.options().set_lr(3e-3 * std::min(1.0, (step + 1) / 20.0));
    optimizer.zero_grad();
    const torch::Tensor logits = gpt->forward(in);
    const torch::Tensor loss = F::cross_entropy(logits.flatten(0, 1), target.flatten());
    loss.backward();
    nn::utils::clip_grad_norm_(gpt->parameters(), arguments.Is("clipped_to_nothing") ? 1e-6 : 1.0);
    optimizer.step();
    if (step % 50 == 49) std::printf("step %d loss %.3f\n", step, loss.item<double>());
  }
  PrintState(gpt->parameters());
}

struct ReaderImpl : nn::Module {
  ReaderImpl() {
    table = register_module("table", nn::Embedding(16, 16));
    lstm = register_module("lstm", nn::LSTM(nn::LSTMOptions(16, 32).batch_first(true)));
    head = register_module("head", nn::Linear(32, 2));
  }
  torch::Tensor forward(const torch::Tensor& ids) {
    const torch::Tensor states = std::get<0>(lstm->forward(table->forward(ids)));
    return head->forward(states.select(1, -1));
  }
  nn::Embedding table{nullptr};
  nn::LSTM lstm{nullptr};
  nn::Linear head{nullptr};
};
TORCH_MODULE(Reader);

void Reads(const Arguments&) {
  auto reader = std::make_shared<ReaderImpl>();
  torch::optim::Adagrad optimizer(reader->parameters(), torch::optim::AdagradOptions(0.05));
  for (int step = 0; step < 120; ++step) {
    const torch::Tensor ids = torch::randint(16, {32, 10}, torch::kLong);
    const torch::Tensor more = (ids < 8).sum(1) > 5;
    optimizer.zero_grad();
    auto loss = F::cross_entropy(reader->forward(ids), more.to(torch::kLong));
    loss.backward();
    optimizer.step();
    if (step % 40 == 39) std::printf("loss %.3f\n", loss.item<double>());
  }
  PrintState(reader->parameters());
}

const Registered a("writes", Writes), b("reads", Reads);

}  // namespace sequences
