#include "reference/training/config_agreement.h"

#include <torch/version.h>

#include <set>
#include <sstream>
#include <vector>

#include "reference/recipe/rejection.h"
#include "reference/training/data_digest.h"
#include "reference/training/load_data.h"

namespace dlcheck::reference {
namespace {

std::vector<std::string> LinesOf(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// A line each, in one order.
std::string Described(const Recipe& recipe) {
  const std::set<std::string> paths = {"data", "checkpoints", "save", "log"};
  std::string text = "LibTorch " TORCH_VERSION "\n";
  for (const Key& key : Keys()) {
    const std::string value = Spelled(recipe, key);
    // Files may have other names elsewhere, but what is done with one is done by all together.
    const bool is_path = paths.count(key.name) > 0;
    text += std::string(key.name) + " " +
            (is_path ? (value.empty() ? "not given" : "given") : value) + "\n";
  }
  static const std::string program = DigestOfFile("/proc/self/exe");
  text += "program of " + program + "\n";
  return text + "data of " + DigestOfFile(DataPath(recipe)) + "\n";
}

}  // namespace

void RequireSameConfig(const Ranks& ranks, const Recipe& recipe) {
  if (!ranks.are_many()) return;
  const std::vector<std::string> described = ranks.Texts(Described(recipe));
  const std::vector<std::string> first = LinesOf(described.front());
  for (size_t rank = 1; rank < described.size(); ++rank) {
    const std::vector<std::string> lines = LinesOf(described[rank]);
    for (size_t i = 0; i < lines.size(); ++i) {
      if (i < first.size() && lines[i] == first[i]) continue;
      throw UsageError("rank " + std::to_string(rank) + " has " + lines[i] + ", but rank 0 has " +
                       (i < first.size() ? first[i] : "nothing of that"));
    }
  }
}

}  // namespace dlcheck::reference
