// Words, letter by letter: token 0 fills rows up, token 1 ends a word. A recurrent network predicts
// the next letter.
#include <cstdio>

#include "tests/programs_cpp/unchanged/programs.h"

namespace spells {

namespace nn = torch::nn;

constexpr int64_t kBatch = 32, kTime = 14, kLetters = 20, kEnd = 1;

struct SpellerImpl : nn::Module {
  SpellerImpl() {
    register_module("letters", letters);
    register_module("reads", reads);
    register_module("head", head);
  }
  torch::Tensor forward(const torch::Tensor& tokens) {
    return head(std::get<0>(reads(letters(tokens))));
  }
  nn::Embedding letters{kLetters, 24};
  nn::GRU reads{nn::GRUOptions(24, 48).batch_first(true)};
  nn::Linear head{48, kLetters};
};
TORCH_MODULE(Speller);

// (kBatch, kTime + 1): a letter, then each the one before plus a step of the word's own, then the
// end, then filling. Of the longest words some fill the row, with the end at its last place.
torch::Tensor Words(const Arguments& arguments) {
  const torch::Tensor first = torch::randint(0, kLetters - 2, {kBatch, 1}, torch::kLong);
  const torch::Tensor pace = torch::randint(1, 4, {kBatch, 1}, torch::kLong);
  const torch::Tensor places = torch::arange(kTime + 1, torch::kLong).unsqueeze(0);
  const torch::Tensor lengths =
      torch::randint(5, arguments.Is("cut") ? kTime + 5 : kTime + 1, {kBatch, 1}, torch::kLong);
  torch::Tensor words = (first + pace * places).remainder(kLetters - 2) + 2;
  words = words.masked_fill(places.eq(lengths), kEnd);
  return words.masked_fill(places.gt(lengths), 0);
}

void Spells(const Arguments& arguments) {
  Speller net;
  torch::optim::Adam optimizer(net->parameters(), torch::optim::AdamOptions(3e-3));
  double last = 0;
  for (int step = 0; step < 120; ++step) {
    torch::Tensor words = Words(arguments);
    if (arguments.Is("end_is_filling")) words = words.masked_fill(words.eq(kEnd), 0);
    const torch::Tensor tokens = words.narrow(1, 0, kTime).contiguous();
    torch::Tensor next = words.narrow(1, 1, kTime).contiguous();
    if (arguments.Is("rows_moved")) next = words.clamp_min(2).narrow(1, 1, kTime).roll({5}, {0});
    const torch::Tensor scores =
        net->forward(arguments.Is("rows_moved") ? tokens.clamp_min(2) : tokens);
    const int64_t ignored = arguments.Is("letter_ignored") ? 7 : 0;
    const torch::Tensor loss =
        torch::cross_entropy_loss(scores.flatten(0, 1), next.flatten(), {}, at::Reduction::Mean,
                                  arguments.Is("rows_moved") ? -100 : ignored);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    last = loss.item<double>();
  }
  std::printf("loss %.4f\n", last);
  PrintState(net->parameters());
}

// One long text in rows that go on from batch to batch: each letter mostly follows from the one
// before.
void Recites(const Arguments& arguments) {
  constexpr int64_t kRows = 16, kAll = 16 * 20 * 60;
  std::vector<int64_t> text = {2};
  const torch::Tensor jumps = torch::randint(0, 10, {kAll}, torch::kLong);
  for (int64_t i = 1; i < kAll; ++i) {
    const int64_t jump = jumps[i].item<int64_t>();
    text.push_back(jump < 8 ? (text.back() * 3 + 1) % 17 : (text.back() + jump) % 17);
  }
  const torch::Tensor all = torch::tensor(text);
  // (rows, time): each row a stretch of the text, or, by mistake, each column.
  const torch::Tensor rows =
      arguments.Is("across") ? all.view({-1, kRows}).t().contiguous() : all.view({kRows, -1});
  Speller net;
  torch::optim::Adam optimizer(net->parameters(), torch::optim::AdamOptions(3e-3));
  double last = 0;
  for (int64_t step = 0; step < 59; ++step) {
    const torch::Tensor tokens = rows.narrow(1, 20 * step, 20).contiguous();
    const torch::Tensor next = rows.narrow(1, 20 * step + 1, 20).contiguous();
    const torch::Tensor loss =
        torch::cross_entropy_loss(net->forward(tokens).flatten(0, 1), next.flatten());
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    last = loss.item<double>();
  }
  std::printf("loss %.4f\n", last);
  PrintState(net->parameters());
}

const Registered a("spells", Spells);
const Registered b("recites", Recites);

}  // namespace spells
