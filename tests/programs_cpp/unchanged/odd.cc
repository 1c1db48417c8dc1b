// Programs that do beside their training what most do not: they fork, handle signals, train in
// several threads, and close what they did not open.
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <functional>
#include <thread>

#include "tests/programs_cpp/unchanged/programs.h"

namespace odd {

namespace nn = torch::nn;

std::atomic<int64_t> rings{0};

// Trains for 120 steps, and calls `beside` after each.
nn::Sequential Trained(const std::function<void(int step)>& beside) {
  nn::Sequential net(nn::Linear(8, 32), nn::ReLU(), nn::Dropout(0.1), nn::Linear(32, 3));
  torch::optim::Adam optimizer(net->parameters(), torch::optim::AdamOptions(3e-3));
  const Data data = Blobs(480, 8, 3);
  for (int step = 0; step < 120; ++step) {
    const torch::Tensor rows = torch::randperm(480).narrow(0, 0, 32);
    const torch::Tensor loss = torch::cross_entropy_loss(net->forward(data.x.index_select(0, rows)),
                                                         data.y.index_select(0, rows));
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    beside(step);
  }
  return net;
}

// A child that computes with the weights, and one that trains on.
void Forks(const Arguments&) {
  nn::Sequential net = Trained([](int step) {
    if (step % 40 != 20) return;
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
      const torch::Tensor weight = torch::ones({4, 4}).requires_grad_();
      (weight * weight).sum().backward();
      _exit(weight.grad().sum().item<double>() == 32 ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    std::printf("child %d\n", status);
  });
  PrintState(net->parameters());
}

void Rings(const Arguments&) {
  struct sigaction action {};
  action.sa_handler = [](int) { ++rings; };
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, nullptr);
  const itimerval each{{0, 500}, {0, 500}};  // microseconds
  setitimer(ITIMER_REAL, &each, nullptr);
  nn::Sequential net = Trained([](int) {});
  const itimerval never{};
  setitimer(ITIMER_REAL, &never, nullptr);
  std::printf("rang %d\n", rings > 10 ? 1 : 0);
  PrintState(net->parameters());
}

// Another thread computes all the time, with gradients of its own.
void Accompanied(const Arguments&) {
  std::atomic<bool> ends{false};
  double found = 0;
  std::thread other([&] {
    while (!ends) {
      const torch::Tensor weight = torch::full({8, 8}, 0.5).requires_grad_();
      weight.mm(weight).sum().backward();
      found = weight.grad().sum().item<double>();
    }
  });
  nn::Sequential net = Trained([](int) {});
  ends = true;
  other.join();
  std::printf("beside %.1f\n", found);
  PrintState(net->parameters());
}

void Closes(const Arguments&) {
  nn::Sequential net = Trained([](int step) {
    if (step != 60) return;
    for (int descriptor = 3; descriptor < 256; ++descriptor) close(descriptor);
  });
  PrintState(net->parameters());
}

const Registered a("forks", Forks);
const Registered b("rings", Rings);
const Registered c("accompanied", Accompanied);
const Registered d("closes_all", Closes);

}  // namespace odd
