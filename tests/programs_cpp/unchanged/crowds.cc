// Threads that call backward through shared weights, and one step for all of them.
#include <cstdio>
#include <thread>

#include "tests/programs_cpp/unchanged/programs.h"

namespace crowds {

namespace nn = torch::nn;
namespace F = torch::nn::functional;

void Crowds(const Arguments&) {
  nn::Sequential net(nn::Linear(8, 32), nn::ReLU(), nn::Linear(32, 3));
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.05));
  const Data data = Blobs(480, 8, 3);
  for (int step = 0; step < 150; ++step) {
    optimizer.zero_grad();
    std::vector<std::thread> workers;
    for (int64_t part = 0; part < 4; ++part) {
      workers.emplace_back([&, part] {
        const torch::Tensor rows = torch::arange(12) * 4 + part + 48 * (step % 10);
        const torch::Tensor output = net->forward(data.x.index_select(0, rows));
        (F::cross_entropy(output, data.y.index_select(0, rows)) / 4).backward();
      });
    }
    for (std::thread& worker : workers) worker.join();
    optimizer.step();
  }
  std::printf("all joined\n");  // the order in which threads add up is not the same twice
}

const Registered a("crowds", Crowds);

}  // namespace crowds
