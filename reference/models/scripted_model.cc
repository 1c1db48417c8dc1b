#include "reference/models/scripted_model.h"

#include <torch/script.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <utility>

#include "reference/recipe/rejection.h"

namespace dlcheck::reference {
namespace {

constexpr char kArchiveMagic[] = {'P', 'K', 3, 4};

// Of a message that tells first where in the script something failed, and last what.
std::string LastLine(const std::string& text) {
  const size_t last = text.find_last_not_of('\n');
  const size_t before = text.find_last_of('\n', last);
  return text.substr(before + 1, last - before);
}

std::string FirstSentence(const std::string& text) { return text.substr(0, text.find(". ")); }

// One scripted module as a module of torch::nn, which shares its parameters and buffers.
class ScriptedPart : public torch::nn::Module {
 public:
  explicit ScriptedPart(const torch::jit::Module& script) : script_(script) {
    for (const auto& parameter : script.named_parameters(/*recurse=*/false)) {
      register_parameter(parameter.name, parameter.value, parameter.value.requires_grad());
    }
    for (const auto& buffer : script.named_buffers(/*recurse=*/false)) {
      register_buffer(buffer.name, buffer.value);
    }
    for (const auto& child : script.named_children()) {
      register_module(child.name, std::make_shared<ScriptedPart>(child.value));
    }
  }

  // Of the script too, whose code reads a mode of its own.
  void train(bool on) override {
    script_.train(on);
    torch::nn::Module::train(on);
  }

  torch::Tensor Forward(torch::Tensor x) {
    try {
      return script_.forward({std::move(x)}).toTensor();
    } catch (const std::exception& error) {
      throw std::runtime_error(LastLine(error.what()));
    }
  }

 private:
  torch::jit::Module script_;
};

torch::jit::Module Load(const std::string& path) {
  try {
    return torch::jit::load(path, at::kCPU);
  } catch (const c10::Error& error) {
    throw InputRejected(
        path, "cannot be read as TorchScript: " + FirstSentence(error.what_without_backtrace()));
  }
}

}  // namespace

bool IsTorchScript(const std::string& path) {
  const std::string extension = std::filesystem::path(path).extension();
  if (extension == ".pt" || extension == ".pth" || extension == ".ts") return true;
  std::string start(sizeof(kArchiveMagic), '\0');
  std::ifstream(path, std::ios::binary).read(start.data(), sizeof(kArchiveMagic));
  return start == std::string(kArchiveMagic, sizeof(kArchiveMagic));
}

Model LoadTorchScript(const std::string& path) {
  const auto module = std::make_shared<ScriptedPart>(Load(path));
  if (module->parameters().empty()) {
    throw InputRejected(path, "has no parameters to train; torch.jit.freeze makes them constants");
  }
  Model model;
  model.module = module;
  model.forward = [module](torch::Tensor x) { return module->Forward(std::move(x)); };
  return model;
}

}  // namespace dlcheck::reference
