// A LibTorch loop that knows nothing of dlcheck, for ci/benchmark-watching-cpp.
// Usage: unchanged_loop WIDTH BATCH STEPS. Prints the milliseconds of a step: of CPU, the mean of
// all steps and of those after the first 256, of which few are sampled; by the clock, the median
// step.
#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

namespace {

constexpr int kFirst = 256;

double Milliseconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

double MedianStep(const std::vector<std::chrono::steady_clock::time_point>& ends) {
  std::vector<double> steps;
  for (size_t i = 1; i < ends.size(); ++i) {
    steps.push_back(std::chrono::duration<double, std::milli>(ends[i] - ends[i - 1]).count());
  }
  const auto middle = steps.begin() + static_cast<std::ptrdiff_t>(steps.size() / 2);
  std::nth_element(steps.begin(), middle, steps.end());
  return *middle;
}

}  // namespace

int main(int count, char** words) {
  if (count != 4) return 2;
  const int64_t width = std::atoll(words[1]), batch = std::atoll(words[2]);
  const int steps = std::atoi(words[3]);
  torch::manual_seed(0);
  torch::nn::Sequential net(torch::nn::Linear(width, width), torch::nn::ReLU(),
                            torch::nn::Linear(width, width), torch::nn::ReLU(),
                            torch::nn::Linear(width, 10));
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(1e-3).momentum(0.9));
  const torch::Tensor x = torch::randn({batch, width}),
                      y = torch::randint(10, {batch}, torch::kLong);
  double begin = 0, after_first = 0;
  std::vector<std::chrono::steady_clock::time_point> ends;
  for (int step = -8; step < steps; ++step) {  // the first few warm up
    if (step == 0) begin = Milliseconds();
    if (step == kFirst) after_first = Milliseconds();
    optimizer.zero_grad();
    torch::nn::functional::cross_entropy(net->forward(x), y).backward();
    optimizer.step();
    ends.push_back(std::chrono::steady_clock::now());
  }
  const double end = Milliseconds();
  std::printf("%.6f %.6f %.6f\n", (end - begin) / steps, (end - after_first) / (steps - kFirst),
              MedianStep(ends));
}
