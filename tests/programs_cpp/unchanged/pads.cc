// Sequences of several lengths, filled up with token 0: a transformer by hand that predicts the
// next token, and one that says which token each sequence began with.
#include <cmath>
#include <cstdio>

#include "tests/programs_cpp/unchanged/programs.h"

namespace pads {

namespace nn = torch::nn;

constexpr int64_t kBatch = 32, kTime = 16, kWords = 12, kWidth = 32, kHeads = 4;

struct ReaderImpl : nn::Module {
  ReaderImpl() {
    register_module("words", words);
    register_module("places", places);
    register_module("mix", mix);
    register_module("out", out);
    register_module("norm", norm);
    register_module("head", head);
  }
  // tokens (B, T), hidden (B or 1, 1, T or 1, T): true where nothing may look.
  torch::Tensor forward(const torch::Tensor& tokens, const torch::Tensor& hidden) {
    const int64_t batch = tokens.size(0), time = tokens.size(1);
    const torch::Tensor x = words(tokens) + places(torch::arange(time));
    const auto parts = mix(x).view({batch, time, 3, kHeads, kWidth / kHeads}).unbind(2);
    const torch::Tensor q = parts[0].transpose(1, 2), k = parts[1].transpose(1, 2);
    torch::Tensor scores = q.matmul(k.transpose(-2, -1)) / std::sqrt(kWidth / kHeads);
    if (hidden.defined()) scores = scores.masked_fill(hidden, -1e9);
    const torch::Tensor weights = torch::softmax(scores, -1);
    const torch::Tensor mixed = weights.matmul(parts[2].transpose(1, 2)).transpose(1, 2);
    return head(torch::relu(norm(x + out(mixed.reshape({batch, time, kWidth})))));
  }
  nn::Embedding words{kWords, kWidth}, places{kTime, kWidth};
  nn::Linear mix{kWidth, 3 * kWidth}, out{kWidth, kWidth}, head{kWidth, kWords};
  nn::LayerNorm norm{nn::LayerNormOptions({kWidth})};
};
TORCH_MODULE(Reader);

// Each token is the one before it plus the first, which makes the next one known.
torch::Tensor Sequences(int64_t length) {
  const torch::Tensor first = torch::randint(1, kWords, {kBatch, 1}, torch::kLong);
  const torch::Tensor places = torch::arange(length, torch::kLong).unsqueeze(0);
  return (first * (places + 1)) % (kWords - 1) + 1;
}

torch::Tensor Padding() {
  const torch::Tensor lengths = torch::randint(4, kTime + 1, {kBatch, 1}, torch::kLong);
  return torch::arange(kTime).unsqueeze(0).ge(lengths);
}

void Continues(const Arguments& arguments) {
  Reader reader;
  torch::optim::Adam optimizer(reader->parameters(), torch::optim::AdamOptions(3e-3));
  const torch::Tensor later = torch::ones({kTime - 1, kTime - 1}, torch::kBool).triu(1);
  double last = 0;
  for (int step = 0; step < 200; ++step) {
    const torch::Tensor text = Sequences(kTime).masked_fill(Padding(), 0);
    const torch::Tensor tokens = text.narrow(1, 0, kTime - 1), next = text.narrow(1, 1, kTime - 1);
    const torch::Tensor targets = next.masked_fill(next.eq(0), -100);
    const torch::Tensor hidden = arguments.Is("sees_next") ? torch::Tensor() : later;
    const torch::Tensor scores = reader(tokens, hidden).flatten(0, 1);
    torch::Tensor loss;
    if (arguments.Is("ignored_in_mean")) {
      loss = torch::cross_entropy_loss(scores, targets.flatten(), {}, at::Reduction::None).mean();
    } else {
      loss = torch::cross_entropy_loss(scores, targets.flatten());
    }
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    last = loss.item<double>();
  }
  std::printf("loss %.4f\n", last);
  PrintState(reader->parameters());
}

// Its own numbers, masked: the squared error of each position.
void Copies(const Arguments& arguments) {
  Reader reader;
  torch::optim::Adam optimizer(reader->parameters(), torch::optim::AdamOptions(3e-3));
  double last = 0;
  for (int step = 0; step < 200; ++step) {
    const torch::Tensor padding = Padding();
    const torch::Tensor tokens = Sequences(kTime).masked_fill(padding, 0);
    torch::Tensor hidden = padding.unsqueeze(1).unsqueeze(1);
    if (arguments.Is("sees_padding")) hidden = torch::Tensor();
    if (arguments.Is("inverted")) hidden = hidden.logical_not();
    const torch::Tensor wanted = torch::one_hot(tokens, kWords).to(torch::kFloat);
    const torch::Tensor errors = (reader(tokens, hidden) - wanted).pow(2).mean(-1);
    const torch::Tensor kept = padding.logical_not().to(torch::kFloat);
    const torch::Tensor masked = errors * kept;
    const torch::Tensor loss =
        arguments.Is("mean_over_padding") ? masked.mean() : masked.sum() / kept.sum();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    last = loss.item<double>();
  }
  std::printf("loss %.5f\n", last);
  PrintState(reader->parameters());
}

const Registered a("continues", Continues);
const Registered b("copies", Copies);

}  // namespace pads
