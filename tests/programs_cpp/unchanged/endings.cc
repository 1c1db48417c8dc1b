// Programs that end in the midst of things: no destructor runs, or another thread ends the process.
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <thread>

#include "tests/programs_cpp/unchanged/programs.h"

namespace endings {

namespace nn = torch::nn;
namespace F = torch::nn::functional;

nn::Sequential Trained() {
  nn::Sequential net(nn::Linear(6, 24), nn::Tanh(), nn::Linear(24, 3));
  torch::optim::Adam optimizer(net->parameters(), torch::optim::AdamOptions(1e-2));
  const Data data = Blobs(320, 6, 3);
  for (int step = 0; step < 60; ++step) {
    const torch::Tensor rows = torch::arange(32) + 32 * (step % 10);
    optimizer.zero_grad();
    F::cross_entropy(net->forward(data.x.index_select(0, rows)), data.y.index_select(0, rows))
        .backward();
    optimizer.step();
  }
  return net;
}

void LeavesAtOnce(const Arguments& arguments) {
  const nn::Sequential net = Trained();
  PrintState(net->parameters());
  const pid_t child = fork();
  if (child == 0) _exit(0);  // what the child ends is not the training
  waitpid(child, nullptr, 0);
  std::fflush(stdout);
  if (arguments.Is("_Exit")) std::_Exit(0);
  if (arguments.Is("quick_exit")) std::quick_exit(0);
  if (arguments.Is("unseen")) syscall(SYS_exit_group, 3);
  _exit(0);
}

void LeavesByAnotherThread(const Arguments&) {
  const nn::Sequential net = Trained();
  PrintState(net->parameters());
  std::thread([] { std::exit(0); }).join();
}

void LeavesByASignal(const Arguments&) {
  const nn::Sequential net = Trained();
  PrintState(net->parameters());
  std::fflush(stdout);
  signal(SIGUSR1, [](int) { _exit(0); });
  raise(SIGUSR1);
}

const Registered a("leaves_at_once", LeavesAtOnce);
const Registered b("leaves_by_another_thread", LeavesByAnotherThread);
const Registered c("leaves_by_a_signal", LeavesByASignal);

}  // namespace endings
