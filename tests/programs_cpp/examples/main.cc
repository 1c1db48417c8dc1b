// Usage: example_programs NAME; without a name it prints all names.
#include <cstdio>

#include "tests/programs_cpp/examples/examples.h"

std::map<std::string, void (*)()>& Examples() {
  static std::map<std::string, void (*)()> examples;
  return examples;
}

Pictures DrawPictures(int64_t count, int64_t side, int64_t classes) {
  static std::map<int64_t, torch::Tensor> patterns;
  torch::Tensor& pattern = patterns[side];
  if (!pattern.defined()) pattern = torch::rand({classes, side, side}).gt(0.6).to(torch::kFloat);
  const torch::Tensor y = torch::randint(classes, {count}, torch::kLong);
  std::vector<torch::Tensor> pictures;
  for (int64_t i = 0; i < count; ++i) {
    const torch::Tensor by = torch::randint(-1, 2, {2}, torch::kLong);
    pictures.push_back(
        pattern[y[i].item<int64_t>()].roll({by[0].item<int64_t>(), by[1].item<int64_t>()}, {0, 1}));
  }
  const torch::Tensor x = torch::stack(pictures).unsqueeze(1);
  return {(0.7 * x + 0.3 * torch::rand_like(x)).clamp(0, 1), y};
}

int main(int count, char** words) {
  const auto found = count > 1 ? Examples().find(words[1]) : Examples().end();
  if (found == Examples().end()) {
    for (const auto& [name, program] : Examples()) std::printf("%s\n", name.c_str());
    return count > 1 ? 2 : 0;
  }
  torch::manual_seed(1);
  found->second();
}
