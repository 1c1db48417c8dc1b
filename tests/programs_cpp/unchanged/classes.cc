// Classifiers whose losses are told something: weights of classes, a teacher, two views of each
// sample, one class for each position of a signal.
#include <cstdio>
#include <vector>

#include "tests/programs_cpp/unchanged/programs.h"

namespace classes {

namespace nn = torch::nn;
namespace F = torch::nn::functional;

nn::Sequential Net(int64_t features, int64_t classes) {
  return nn::Sequential(nn::Linear(features, 32), nn::ReLU(), nn::Linear(32, classes));
}

// Of four classes, each rarer than the one before.
Data Uneven() {
  const Data data = Blobs(400, 8, 4);
  std::vector<torch::Tensor> chosen;
  const int64_t samples[] = {32, 16, 10, 6};
  for (int64_t i = 0; i < 4; ++i) {
    chosen.push_back(data.y.eq(i).nonzero().flatten().narrow(0, 0, samples[i]));
  }
  const torch::Tensor rows = torch::cat(chosen).index_select(0, torch::randperm(64));
  return {data.x.index_select(0, rows), data.y.index_select(0, rows)};
}

void Balances(const Arguments& arguments) {
  nn::Sequential net = Net(8, 4);
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.1).momentum(0.9));
  torch::Tensor weights = torch::tensor({0.5, 1.0, 1.6, 2.67});
  if (arguments.Is("weights_of_frequency")) weights = torch::tensor({2.67, 1.6, 1.0, 0.5});
  if (arguments.Is("weights_in_other_order")) weights = torch::tensor({1.6, 0.5, 2.67, 1.0});
  double last = 0;
  for (int step = 0; step < 150; ++step) {
    const auto [x, y] = Uneven();
    torch::Tensor scores = net->forward(x);
    torch::Tensor of_class = weights;
    if (arguments.Is("in_half_precision")) {
      scores = scores.to(torch::kBFloat16);
      of_class = weights.to(torch::kBFloat16);
    }
    optimizer.zero_grad();
    const torch::Tensor loss = torch::cross_entropy_loss(scores, y, of_class);
    loss.backward();
    optimizer.step();
    last = loss.item<double>();
  }
  std::printf("loss %.4f\n", last);
  PrintState(net->parameters());
}

void Distills(const Arguments& arguments) {
  nn::Sequential teacher = Net(8, 4), student = Net(8, 4);
  torch::optim::Adam first(teacher->parameters(), torch::optim::AdamOptions(1e-2));
  for (int step = 0; step < 80; ++step) {
    const auto [x, y] = Blobs(64, 8, 4);
    first.zero_grad();
    torch::cross_entropy_loss(teacher->forward(x), y).backward();
    first.step();
  }
  torch::optim::Adam optimizer(student->parameters(), torch::optim::AdamOptions(3e-3));
  double last = 0;
  for (int step = 0; step < 150; ++step) {
    const auto [x, y] = Blobs(64, 8, 4);
    torch::Tensor scores;
    if (arguments.Is("teacher_with_gradient")) {
      scores = teacher->forward(x);
    } else {
      const torch::NoGradGuard no_grad;
      scores = teacher->forward(x);
    }
    if (arguments.Is("teacher_in_other_order")) scores = scores.roll(1, 1);
    torch::Tensor wanted = torch::softmax(scores, 1);
    if (arguments.Is("logarithms_as_targets")) wanted = torch::log_softmax(scores, 1);
    const torch::Tensor given = student->forward(x);
    const torch::Tensor hard = torch::cross_entropy_loss(given, y);
    const torch::Tensor soft = F::kl_div(torch::log_softmax(given, 1), wanted,
                                         F::KLDivFuncOptions().reduction(torch::kBatchMean));
    const torch::Tensor loss = 0.5 * hard + 0.5 * soft;
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    last = hard.item<double>();
  }
  std::printf("loss %.4f\n", last);
  PrintState(student->parameters());
}

void Matches(const Arguments& arguments) {
  nn::Sequential net(nn::Linear(16, 64), nn::ReLU(), nn::Linear(64, 16));
  torch::optim::Adam optimizer(net->parameters(), torch::optim::AdamOptions(2e-3));
  constexpr int64_t kPairs = 32;
  const torch::Tensor others = torch::arange(2 * kPairs).roll(kPairs);
  const torch::Tensor own = torch::eye(2 * kPairs, torch::kBool);
  double last = 0;
  for (int step = 0; step < 150; ++step) {
    const torch::Tensor x = 2 * torch::randn({kPairs, 16});
    const torch::Tensor views =
        torch::cat({x + 0.3 * torch::randn_like(x), x + 0.3 * torch::randn_like(x)});
    const torch::Tensor codes = F::normalize(net->forward(views), F::NormalizeFuncOptions().dim(1));
    torch::Tensor scores = codes.mm(codes.t()) / 0.5;
    if (!arguments.Is("with_itself")) scores = scores.masked_fill(own, -1e9);
    const torch::Tensor loss = torch::cross_entropy_loss(scores, others);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    last = loss.item<double>();
  }
  std::printf("loss %.4f\n", last);
  PrintState(net->parameters());
}

// Of each place of a signal (samples, 1, places): whether it is below, near or above zero.
void Marks(const Arguments& arguments) {
  nn::Sequential net(nn::Conv1d(nn::Conv1dOptions(1, 16, 3).padding(1)), nn::ReLU(),
                     nn::Conv1d(nn::Conv1dOptions(16, 3, 3).padding(1)));
  torch::optim::Adam optimizer(net->parameters(), torch::optim::AdamOptions(5e-3));
  double last = 0;
  for (int step = 0; step < 150; ++step) {
    const torch::Tensor x = torch::randn({32, 1, 20});
    const torch::Tensor y = (x.gt(-0.5).to(torch::kLong) + x.gt(0.5).to(torch::kLong)).squeeze(1);
    const int64_t axis = arguments.Is("along_places") ? 2 : 1;
    const torch::Tensor loss = torch::nll_loss_nd(torch::log_softmax(net->forward(x), axis), y);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    last = loss.item<double>();
  }
  std::printf("loss %.4f\n", last);
  PrintState(net->parameters());
}

const Registered a("balances", Balances);
const Registered b("distills", Distills);
const Registered c("matches", Matches);
const Registered d("marks", Marks);

}  // namespace classes
