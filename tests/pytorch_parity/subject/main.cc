// Each line of standard input is a request: SUBJECT, the file of inputs, the file for outputs, and
// parameters as name=value, with tabs between. Each is answered by a line: `ok`, or what went
// wrong.
#include <torch/csrc/jit/serialization/pickle.h>

#include <fstream>
#include <iostream>
#include <iterator>
#include <vector>

#include "tests/pytorch_parity/subject/subject.h"

namespace dlcheck::reference {
namespace {

const std::map<std::string, void (*)(Case&)> kSubjects = {
    {"schedules", Schedules},
    {"plateaus", Plateaus},
    {"optimizers", Optimizers},
    {"clipping", Clipping},
    {"averages", Averages},
    {"scaler_trace", ScalerTrace},
    {"scaler_calls", ScalerCalls},
    {"scaled_steps", ScaledSteps},
    {"autocast_table", AutocastTable},
    {"checkpoints", Checkpoints},
    {"checkpoint_slopes", CheckpointSlopes},
    {"models", Models},
    {"initial_weights", InitialWeights},
    {"losses", Losses},
    {"training", Trained},
    {"augmentation", Augmented},
};

std::vector<std::string> Split(const std::string& line) {
  std::vector<std::string> words = {""};
  for (const char c : line) {
    if (c == '\t') {
      words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  return words;
}

Case::Tensors ReadTensors(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  Case::Tensors tensors;
  for (const auto& item : torch::pickle_load(bytes).toGenericDict()) {
    tensors[item.key().toStringRef()] = item.value().toTensor();
  }
  return tensors;
}

void WriteTensors(const std::string& path, const Case::Tensors& tensors) {
  c10::Dict<std::string, torch::Tensor> dictionary;
  for (const auto& [name, tensor] : tensors) dictionary.insert(name, tensor);
  const std::vector<char> bytes = torch::pickle_save(dictionary);
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<int64_t>(bytes.size()));
}

void Answer(const std::string& request) {
  const std::vector<std::string> words = Split(request);
  std::map<std::string, std::string> parameters;
  for (size_t i = 3; i < words.size(); ++i) {
    const size_t equals = words[i].find('=');
    parameters[words[i].substr(0, equals)] = words[i].substr(equals + 1);
  }
  Case run(parameters, ReadTensors(words.at(1)));
  kSubjects.at(words[0])(run);
  WriteTensors(words.at(2), run.outputs());
}

}  // namespace

std::string Case::Text(const std::string& name, const std::string& otherwise) const {
  const auto found = parameters_.find(name);
  return found == parameters_.end() ? otherwise : found->second;
}

double Case::Number(const std::string& name, double otherwise) const {
  const auto found = parameters_.find(name);
  return found == parameters_.end() ? otherwise : std::stod(found->second);
}

int64_t Case::Integer(const std::string& name, int64_t otherwise) const {
  const auto found = parameters_.find(name);
  return found == parameters_.end() ? otherwise : std::stoll(found->second);
}

Case::Tensors Case::Inputs(const std::string& prefix) const {
  Tensors chosen;
  for (const auto& [name, tensor] : inputs_) {
    if (name.rfind(prefix, 0) == 0) chosen[name.substr(prefix.size())] = tensor.clone();
  }
  return chosen;
}

}  // namespace dlcheck::reference

int main() {
  at::set_num_threads(1);
  std::string request;
  while (std::getline(std::cin, request)) {
    try {
      dlcheck::reference::Answer(request);
      std::cout << "ok" << std::endl;
    } catch (const std::exception& error) {
      std::string what = error.what();
      std::cout << what.substr(0, what.find('\n')) << std::endl;
    }
  }
}
