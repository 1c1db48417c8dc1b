// Programs whose training has phases: a network is made anew and goes on, a second one learns from
// the first, gradients are averaged by hand, inputs are attacked, a generator samples at the end.
#include <cstdio>

#include "tests/programs_cpp/unchanged/programs.h"

namespace phases {

namespace nn = torch::nn;
namespace F = torch::nn::functional;

// Inputs of thousands, which the first layer normalizes.
nn::Sequential Salaries() {
  return nn::Sequential(nn::BatchNorm1d(6), nn::Linear(6, 32), nn::ReLU(), nn::Linear(32, 3));
}

void CopyWeights(nn::Sequential& from, nn::Sequential& to) {
  const torch::NoGradGuard no_grad;
  const auto theirs = from->named_parameters();
  for (auto& item : to->named_parameters()) item.value().copy_(theirs[item.key()]);
}

void MadeAnew(const Arguments& arguments) {
  nn::Sequential net = Salaries();
  torch::optim::Adam optimizer(net->parameters(), torch::optim::AdamOptions(3e-3));
  const Data data = Blobs(480, 6, 3);
  const torch::Tensor x = 4000 + 1500 * data.x;
  for (int step = 0; step < 240; ++step) {
    if (step == 100 && arguments.Is("old_optimizer")) {
      nn::Sequential next = Salaries();
      CopyWeights(net, next);
      net = next;
    }
    if (step == 120 && arguments.Is("rate_in_defaults")) optimizer.defaults().set_lr(3e-4);
    const torch::Tensor rows = torch::randperm(480).narrow(0, 0, 32);
    const torch::Tensor loss = torch::cross_entropy_loss(net->forward(x.index_select(0, rows)),
                                                         data.y.index_select(0, rows));
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
  PrintState(net->parameters());
}

nn::Sequential Learner(int64_t width) {
  return nn::Sequential(nn::Linear(8, width), nn::ReLU(), nn::Linear(width, 4));
}

// The second loss function comes after some hundred steps.
void LearnsFrom(const Arguments& arguments) {
  const Data data = Blobs(512, 8, 4);
  nn::Sequential teacher = Learner(64), student = Learner(8);
  torch::optim::Adam first(teacher->parameters(), torch::optim::AdamOptions(3e-3));
  for (int step = 0; step < 100; ++step) {
    first.zero_grad();
    torch::cross_entropy_loss(teacher->forward(data.x), data.y).backward();
    first.step();
  }
  torch::optim::Adam second(student->parameters(), torch::optim::AdamOptions(3e-3));
  for (int step = 0; step < 150; ++step) {
    torch::Tensor soft;
    {
      const torch::NoGradGuard no_grad;
      soft = torch::softmax(teacher->forward(data.x) / 2, 1);
    }
    const torch::Tensor scores = student->forward(data.x) / 2;
    const torch::Tensor given =
        arguments.Is("probabilities") ? torch::softmax(scores, 1) : torch::log_softmax(scores, 1);
    second.zero_grad();
    F::kl_div(given, soft, F::KLDivFuncOptions().reduction(torch::kBatchMean)).backward();
    second.step();
  }
  PrintState(student->parameters());
}

// Gradients of four batches, of which the program takes the mean by itself.
void Averages(const Arguments&) {
  nn::Sequential net = Learner(32);
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.1).momentum(0.9));
  const Data data = Blobs(512, 8, 4);
  for (int step = 0; step < 80; ++step) {
    optimizer.zero_grad();
    for (const torch::Tensor& rows : torch::randperm(512).narrow(0, 0, 64).split(16)) {
      torch::cross_entropy_loss(net->forward(data.x.index_select(0, rows)),
                                data.y.index_select(0, rows))
          .backward();
    }
    for (const torch::Tensor& parameter : net->parameters()) parameter.grad().div_(4);
    optimizer.step();
  }
  PrintState(net->parameters());
}

// Trains on inputs that the gradient of a first loss has moved.
void Attacks(const Arguments&) {
  nn::Sequential net = Learner(32);
  torch::optim::Adam optimizer(net->parameters(), torch::optim::AdamOptions(3e-3));
  const Data data = Blobs(512, 8, 4);
  for (int step = 0; step < 120; ++step) {
    const torch::Tensor rows = torch::randperm(512).narrow(0, 0, 32);
    const torch::Tensor y = data.y.index_select(0, rows);
    torch::Tensor x = data.x.index_select(0, rows).requires_grad_();
    torch::cross_entropy_loss(net->forward(x), y).backward();
    x = (x + 0.1 * x.grad().sign()).detach();
    optimizer.zero_grad();
    torch::cross_entropy_loss(net->forward(x), y).backward();
    optimizer.step();
  }
  PrintState(net->parameters());
}

// Draws from what it has learned, once all steps are taken.
void Samples(const Arguments&) {
  nn::Sequential net = Learner(32);
  torch::optim::Adam optimizer(net->parameters(), torch::optim::AdamOptions(3e-3));
  const Data data = Blobs(512, 8, 4);
  for (int step = 0; step < 120; ++step) {
    optimizer.zero_grad();
    torch::cross_entropy_loss(net->forward(data.x), data.y).backward();
    optimizer.step();
  }
  const torch::NoGradGuard no_grad;
  net->eval();
  int64_t drawn = 0;
  for (int batch = 0; batch < 4; ++batch) {
    const torch::Tensor chances = torch::softmax(net->forward(data.x), 1);
    drawn += torch::multinomial(chances, 1).sum().item<int64_t>();
  }
  std::printf("drawn %d\n", drawn > 0 ? 1 : 0);
  PrintState(net->parameters());
}

const Registered a("made_anew", MadeAnew);
const Registered b("learns_from", LearnsFrom);
const Registered c("averages", Averages);
const Registered d("attacks", Attacks);
const Registered e("samples", Samples);

}  // namespace phases
