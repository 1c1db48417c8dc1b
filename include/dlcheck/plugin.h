// Turns a torch::nn::Module into a plugin that `dlcheck-train --model ./libX.so` can host: put
// DLCHECK_MODEL(Net) once into a source file and build a shared library of it. `Net` needs
//
//   Net(dlcheck::InputShape sample_shape, int64_t classes);  // sample_shape without the batch axis
//   torch::Tensor forward(torch::Tensor x);                   // (B, sample_shape...) to (B,
//   classes)
//
// The host compares versions before it runs any code of the model, because C++ objects cross this
// border. C++17, for users' builds. It says nothing of loss, optimizer or data: those come from the
// recipe.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <cstdio>
#include <exception>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace dlcheck {

using InputShape = std::vector<int64_t>;

// Raised whenever one of the types below changes.
inline constexpr uint32_t kPluginAbi = 1;

// What a plugin was built with. Plain C, so that any host can read it from any plugin.
struct PluginVersions {
  uint32_t size;        // of this struct, in bytes
  uint32_t plugin_abi;  // kPluginAbi
  const char* torch_version;
  int32_t cxx11_abi;  // _GLIBCXX_USE_CXX11_ABI
};

inline PluginVersions BuiltVersions() {
  return {sizeof(PluginVersions), kPluginAbi, TORCH_VERSION, _GLIBCXX_USE_CXX11_ABI};
}

struct PluginModel {
  std::shared_ptr<torch::nn::Module> module;
  std::function<torch::Tensor(torch::Tensor)> forward;  // keeps the module alive
};

// Both are exported as extern "C" by DLCHECK_MODEL. The second returns 0, or 1 with a text in
// `error`, which has room for `error_bytes`, at least 1.
using PluginVersionsFunction = PluginVersions();
using PluginCreateFunction = int(const InputShape& sample_shape, int64_t classes,
                                 PluginModel& model, char* error, size_t error_bytes);
inline constexpr char kPluginVersionsSymbol[] = "dlcheck_plugin_versions";
inline constexpr char kPluginCreateSymbol[] = "dlcheck_plugin_create";

// Builds a Net; no exception leaves it.
template <typename Net>
int CreatePluginModel(const InputShape& sample_shape, int64_t classes, PluginModel& model,
                      char* error, size_t error_bytes) {
  try {
    auto net = std::make_shared<Net>(sample_shape, classes);
    model.module = net;
    model.forward = [net](torch::Tensor x) { return net->forward(std::move(x)); };
    return 0;
  } catch (const c10::Error& failure) {
    std::snprintf(error, error_bytes, "%s", failure.what_without_backtrace());
  } catch (const std::exception& failure) {
    std::snprintf(error, error_bytes, "%s", failure.what());
  } catch (...) {
    std::snprintf(error, error_bytes, "%s", "what was thrown is no std::exception");
  }
  return 1;
}

}  // namespace dlcheck

#define DLCHECK_MODEL(Net)                                                                    \
  extern "C" __attribute__((visibility("default"))) dlcheck::PluginVersions                   \
  dlcheck_plugin_versions() {                                                                 \
    return dlcheck::BuiltVersions();                                                          \
  }                                                                                           \
  extern "C" __attribute__((visibility("default"))) int dlcheck_plugin_create(                \
      const dlcheck::InputShape& sample_shape, int64_t classes, dlcheck::PluginModel& model,  \
      char* error, size_t error_bytes) {                                                      \
    return dlcheck::CreatePluginModel<Net>(sample_shape, classes, model, error, error_bytes); \
  }                                                                                           \
  static_assert(true, "so that the macro ends with a semicolon")
