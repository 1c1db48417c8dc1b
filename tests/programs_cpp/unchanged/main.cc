// Usage: unchanged_programs PROGRAM [FAULT]
#include <cstdio>

#include "tests/programs_cpp/unchanged/programs.h"

std::map<std::string, std::function<void(const Arguments&)>>& Programs() {
  static std::map<std::string, std::function<void(const Arguments&)>> programs;
  return programs;
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
