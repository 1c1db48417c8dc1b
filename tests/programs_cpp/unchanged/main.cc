// Usage: unchanged_programs PROGRAM [FAULT]
#include <cstdint>
#include <cstdio>

#include "tests/programs_cpp/unchanged/programs.h"

std::map<std::string, std::function<void(const Arguments&)>>& Programs() {
  static std::map<std::string, std::function<void(const Arguments&)>> programs;
  return programs;
}

void PrintState(const std::vector<torch::Tensor>& parameters) {
  uint64_t sum = 0;
  for (const torch::Tensor& parameter : parameters) {
    const torch::Tensor bytes = parameter.detach().contiguous().view(-1).view(torch::kUInt8);
    const auto* data = bytes.data_ptr<uint8_t>();
    for (int64_t i = 0; i < bytes.numel(); ++i) sum = sum * 1099511628211u + data[i];
  }
  std::printf("state %016llx, next %lld\n", static_cast<unsigned long long>(sum),
              static_cast<long long>(torch::randint(1 << 30, {1}, torch::kLong).item<int64_t>()));
}

int main(int count, char** words) {
  const auto found = count > 1 ? Programs().find(words[1]) : Programs().end();
  if (found == Programs().end()) {
    for (const auto& [name, program] : Programs()) std::printf("%s\n", name.c_str());
    return count > 1 ? 2 : 0;
  }
  torch::manual_seed(1);
  found->second({count > 2 ? words[2] : ""});
}
