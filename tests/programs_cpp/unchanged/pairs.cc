// Users and items by their numbers, and views of samples that are to be alike.
#include <cstdio>

#include "tests/programs_cpp/unchanged/programs.h"

namespace pairs {

namespace nn = torch::nn;
namespace F = torch::nn::functional;

constexpr int64_t kUsers = 30, kItems = 50;

// One table for both; the score of a pair is the product of its rows.
void Rates(const Arguments& arguments) {
  nn::Embedding table(kUsers + kItems, 8);
  nn::init::normal_(table->weight, 0, 0.3);
  torch::optim::Adam optimizer(table->parameters(), torch::optim::AdamOptions(5e-2));
  const torch::Tensor taste = torch::randn({kUsers, 3}), nature = torch::randn({kItems, 3});
  double last = 0;
  for (int step = 0; step < 120; ++step) {
    const torch::Tensor users = torch::randint(kUsers, {128}, torch::kLong);
    const torch::Tensor items = torch::randint(kItems, {128}, torch::kLong);
    const torch::Tensor wanted =
        (taste.index_select(0, users) * nature.index_select(0, items)).sum(1);
    const int64_t first = arguments.Is("items_from_zero") ? 0 : kUsers;
    const torch::Tensor both = table->forward(torch::stack({users, items + first}, 1));
    const torch::Tensor loss =
        torch::mse_loss((both.select(1, 0) * both.select(1, 1)).sum(1), wanted);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    last = loss.item<double>();
  }
  std::printf("loss %.4f\n", last);
  PrintState(table->parameters());
}

// Two views of each sample, the one after the other in two halves.
void Contrasts(const Arguments& arguments) {
  constexpr int64_t kSamples = 24;
  nn::Sequential net(nn::Linear(20, 64), nn::ReLU(), nn::Linear(64, 16));
  torch::optim::Adam optimizer(net->parameters(), torch::optim::AdamOptions(2e-3));
  const torch::Tensor own = torch::eye(2 * kSamples, torch::kBool);
  const torch::Tensor halves = torch::arange(2 * kSamples).roll(kSamples);
  double last = 0;
  for (int step = 0; step < 120; ++step) {
    const torch::Tensor x = 2 * torch::randn({kSamples, 20});
    const torch::Tensor one = x + 0.4 * torch::randn_like(x);
    const torch::Tensor other = arguments.Is("same_view") ? one : x + 0.4 * torch::randn_like(x);
    const torch::Tensor views = arguments.Is("neighbors")
                                    ? torch::stack({one, other}, 1).flatten(0, 1)
                                    : torch::cat({one, other});
    const torch::Tensor codes = F::normalize(net->forward(views), F::NormalizeFuncOptions().dim(1));
    const torch::Tensor scores = (codes.mm(codes.t()) / 0.5).masked_fill(own, -1e9);
    const torch::Tensor loss = torch::cross_entropy_loss(scores, halves);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    last = loss.item<double>();
  }
  std::printf("loss %.4f\n", last);
  PrintState(net->parameters());
}

const Registered a("rates", Rates);
const Registered b("contrasts", Contrasts);

}  // namespace pairs
