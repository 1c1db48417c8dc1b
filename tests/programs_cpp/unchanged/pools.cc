// A recurrent network with attention over words that are not padding, and losses that are kept for
// a while.
#include <cstdio>
#include <deque>

#include "tests/programs_cpp/unchanged/programs.h"

namespace pools {

namespace nn = torch::nn;
namespace F = torch::nn::functional;

constexpr int64_t kWords = 20, kLength = 12, kRows = 32;

struct PoolImpl : nn::Module {
  explicit PoolImpl(const std::string& fault) : fault(fault) {
    table = register_module("table", nn::Embedding(kWords, 12));
    auto options = nn::GRUOptions(12, 24).batch_first(fault != "along_batch");
    gru = register_module("gru", nn::GRU(options));
    score = register_module("score", nn::Linear(24, 1));
    head = register_module("head", nn::Linear(24, 2));
  }
  torch::Tensor forward(const torch::Tensor& words) {
    const torch::Tensor padding = words.eq(0);
    const torch::Tensor states = std::get<0>(gru(table(words)));
    torch::Tensor scores = score(states).squeeze(-1);
    if (fault == "mask_dropped") {
      scores.masked_fill(padding, -1e9);
    } else {
      scores = scores.masked_fill(padding, -1e9);
    }
    // A number of its own for each row, of which the shape alone is asked for.
    const int64_t width = torch::relu(states).flatten(1).size(1);
    const torch::Tensor weights = torch::softmax(scores, 1).unsqueeze(1);
    return head(torch::relu(weights.bmm(states).squeeze(1))) * (width > 0 ? 1 : 0);
  }
  std::string fault;
  nn::Embedding table{nullptr};
  nn::GRU gru{nullptr};
  nn::Linear score{nullptr}, head{nullptr};
};
TORCH_MODULE(Pool);

// Rows of words with zeros behind their end, and whether most are from the lower half.
Data Sentences(int64_t length) {
  const torch::Tensor ends = torch::randint(4, length + 1, {kRows, 1}, torch::kLong);
  const torch::Tensor is_word = torch::arange(length) < ends;
  const torch::Tensor words = torch::randint(1, kWords, {kRows, length}, torch::kLong) * is_word;
  const torch::Tensor low = words.gt(0).logical_and(words.lt(10)).sum(1);
  return {words, (2 * low).gt(is_word.sum(1)).to(torch::kLong)};
}

void Pools(const Arguments& arguments) {
  Pool net(arguments.fault);
  torch::optim::Adam optimizer(net->parameters(), torch::optim::AdamOptions(5e-3));
  torch::Tensor sum = torch::zeros({});
  std::deque<torch::Tensor> last;
  for (int step = 0; step < 160; ++step) {
    // Some sentences are as long as there are rows.
    const Data batch = Sentences(step % 2 == 0 ? kLength : kRows);
    optimizer.zero_grad();
    const torch::Tensor loss = F::cross_entropy(net(batch.x), batch.y);
    loss.backward();
    optimizer.step();
    last.push_back(loss);
    if (last.size() > 10) last.pop_front();
    sum = sum + (arguments.Is("losses_kept") ? loss : loss.detach());
  }
  std::printf("mean loss %.4f\n", sum.item<double>() / 160);
  PrintState(net->parameters());
}

const Registered a("pools", Pools);

}  // namespace pools
