// Words in one long stream, cut into rows; the state of the LSTM is carried from segment to segment
// and detached; then text is sampled from the model word by word.
#include <cmath>
#include <cstdio>

#include "tests/programs_cpp/examples/examples.h"

namespace language_model {

using State = std::tuple<torch::Tensor, torch::Tensor>;

class RNNLMImpl : public torch::nn::Module {
 public:
  RNNLMImpl(int64_t vocab_size, int64_t embed_size, int64_t hidden_size)
      : embed(vocab_size, embed_size),
        lstm(torch::nn::LSTMOptions(embed_size, hidden_size).batch_first(true)),
        linear(hidden_size, vocab_size) {
    register_module("embed", embed);
    register_module("lstm", lstm);
    register_module("linear", linear);
  }
  std::tuple<torch::Tensor, State> forward(torch::Tensor x, State hx) {
    x = embed->forward(x);
    torch::Tensor out;
    std::tie(out, hx) = lstm->forward(x, hx);
    out = out.reshape({out.size(0) * out.size(1), out.size(2)});
    return std::make_tuple(linear->forward(out), hx);
  }

 private:
  torch::nn::Embedding embed;
  torch::nn::LSTM lstm;
  torch::nn::Linear linear;
};
TORCH_MODULE(RNNLM);

constexpr int64_t kWords = 24, kHidden = 48, kBatch = 16, kLength = 12;

// Each word follows from the one before by a table, or is drawn anew in one of ten cases.
torch::Tensor Corpus(int64_t count) {
  const torch::Tensor next = torch::randperm(kWords);
  torch::Tensor ids = torch::empty({count}, torch::kLong);
  int64_t word = 0;
  for (int64_t i = 0; i < count; ++i) {
    ids[i] = word;
    word = torch::rand(1).item<double>() < 0.1 ? torch::randint(kWords, {1}).item<int64_t>()
                                               : next[word].item<int64_t>();
  }
  return ids.narrow(0, 0, count / kBatch * kBatch).reshape({kBatch, -1});
}

State Detached(const State& states) {
  return {std::get<0>(states).detach(), std::get<1>(states).detach()};
}

void Main() {
  const torch::Tensor ids = Corpus(kBatch * 361);
  RNNLM model(kWords, 32, kHidden);
  torch::optim::Adam optimizer(model->parameters(), torch::optim::AdamOptions(0.004));
  for (int epoch = 0; epoch != 4; ++epoch) {
    auto states = State(torch::zeros({1, kBatch, kHidden}), torch::zeros({1, kBatch, kHidden}));
    double running_perplexity = 0.0, running_loss = 0.0;
    size_t num_batches = 0;
    for (int64_t i = 0; i < ids.size(1) - kLength; i += kLength) {
      auto data = ids.narrow(1, i, kLength);
      auto target = ids.narrow(1, i + 1, kLength).reshape(-1);
      states = Detached(states);
      torch::Tensor output;
      std::tie(output, states) = model->forward(data, states);
      auto loss = torch::nn::functional::cross_entropy(output, target);
      running_loss += loss.item<double>() * static_cast<double>(data.size(0));
      running_perplexity += std::exp(loss.item<double>());
      optimizer.zero_grad();
      loss.backward();
      torch::nn::utils::clip_grad_norm_(model->parameters(), 0.5);
      optimizer.step();
      ++num_batches;
    }
    std::printf("Epoch %d - Loss: %.4f, Perplexity: %.3f\n", epoch,
                running_loss / static_cast<double>(num_batches * kBatch),
                running_perplexity / static_cast<double>(num_batches));
  }
  model->eval();
  torch::InferenceMode no_grad;
  auto states = State(torch::zeros({1, 1, kHidden}), torch::zeros({1, 1, kHidden}));
  auto word = torch::randint(kWords, {1, 1}, torch::kLong);
  for (int i = 0; i < 20; ++i) {
    torch::Tensor output;
    std::tie(output, states) = model->forward(word, states);
    word = output.softmax(1).multinomial(1);
    std::printf("%ld ", word.item<int64_t>());
  }
  std::printf("\n");
}

const Example example("language_model", Main);

}  // namespace language_model
