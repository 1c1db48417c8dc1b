#include "reference/models/hosted_model.h"

#include <dlfcn.h>

#include <filesystem>
#include <sstream>
#include <utility>

#include "reference/models/scripted_model.h"
#include "reference/recipe/rejection.h"

namespace dlcheck::reference {
namespace {

constexpr int64_t kTrialBatch = 2;

std::string FirstLine(const std::string& text) { return text.substr(0, text.find('\n')); }

// dlopen's message without the path that it begins with. A symbol that is missing is most often one
// of another LibTorch, so the message says which one is here.
std::string LoaderMessage(const std::string& path) {
  std::string message = dlerror();
  const std::string prefix = path + ": ";
  if (message.rfind(prefix, 0) == 0) message = message.substr(prefix.size());
  if (message.rfind("undefined symbol", 0) == 0) {
    message += "; was it built with another LibTorch? This dlcheck-train has ";
    message += TORCH_VERSION;
  }
  return message;
}

void* Symbol(void* library, const char* name, const std::string& path) {
  void* symbol = dlsym(library, name);
  if (symbol == nullptr) {
    throw InputRejected(path, std::string("does not export ") + name +
                                  "; put DLCHECK_MODEL(Net) of dlcheck/plugin.h into its source");
  }
  return symbol;
}

// Field by field, because a plugin with another layout must not be read beyond what it wrote.
void CompareVersions(const PluginVersions& plugin, const std::string& path) {
  const PluginVersions host = BuiltVersions();
  if (plugin.size != host.size || plugin.plugin_abi != host.plugin_abi) {
    throw InputRejected(path, "was built with plugin interface " +
                                  std::to_string(plugin.plugin_abi) + "; this dlcheck-train has " +
                                  std::to_string(host.plugin_abi));
  }
  if (std::string(plugin.torch_version) != host.torch_version) {
    throw InputRejected(path, std::string("was built with LibTorch ") + plugin.torch_version +
                                  "; this dlcheck-train has " + host.torch_version);
  }
  if (plugin.cxx11_abi != host.cxx11_abi) {
    throw InputRejected(
        path, "was built with _GLIBCXX_USE_CXX11_ABI=" + std::to_string(plugin.cxx11_abi) +
                  "; this dlcheck-train has " + std::to_string(host.cxx11_abi));
  }
}

std::string ShapeOf(const torch::Tensor& tensor) {
  if (!tensor.defined()) return "nothing";
  std::ostringstream text;
  text << tensor.sizes();
  return text.str();
}

// A forward pass whose failure says whose it is.
template <typename Failure>
std::function<torch::Tensor(torch::Tensor)> Named(
    const std::function<torch::Tensor(torch::Tensor)>& forward, const Failure& failure) {
  return [forward, failure](torch::Tensor x) {
    try {
      return forward(std::move(x));
    } catch (const c10::Error& error) {
      throw failure("its forward pass failed: " + FirstLine(error.what_without_backtrace()));
    } catch (const std::exception& error) {
      throw failure("its forward pass failed: " + FirstLine(error.what()));
    }
  };
}

torch::Tensor TryForward(const Model& model, const InputShape& sample_shape,
                         const std::string& path) {
  std::vector<int64_t> shape = {kTrialBatch};
  shape.insert(shape.end(), sample_shape.begin(), sample_shape.end());
  const auto rejected = [&](const std::string& cause) { return InputRejected(path, cause); };
  return Named(model.forward, rejected)(torch::zeros(shape));
}

// Leaves the random state and the mode as they were, so that training does not depend on the trial.
void TryModel(const Model& model, const InputShape& sample_shape, int64_t classes,
              const std::string& path) {
  const torch::NoGradGuard no_grad;
  at::Generator generator = at::detail::getDefaultCPUGenerator();
  const torch::Tensor state = generator.get_state();
  model.module->eval();
  const torch::Tensor logits = TryForward(model, sample_shape, path);
  model.module->train();
  generator.set_state(state);
  if (!logits.defined() || logits.sizes() != at::IntArrayRef({kTrialBatch, classes})) {
    throw InputRejected(path, "gave outputs of shape " + ShapeOf(logits) + " for 2 samples; [2, " +
                                  std::to_string(classes) + "] is expected");
  }
}

Model LoadLibrary(const std::string& path, const InputShape& sample_shape, int64_t classes,
                  const Stage& stage) {
  // Absolute, because the loader looks up a name without a slash elsewhere.
  const std::string full_path = std::filesystem::absolute(path);
  stage("what it does as it is loaded");
  void* library = dlopen(full_path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    throw InputRejected(path, "cannot be loaded: " + LoaderMessage(full_path));
  const auto versions =
      reinterpret_cast<PluginVersionsFunction*>(Symbol(library, kPluginVersionsSymbol, path));
  CompareVersions(versions(), path);
  const auto create =
      reinterpret_cast<PluginCreateFunction*>(Symbol(library, kPluginCreateSymbol, path));
  PluginModel created;
  char error[512] = "";
  stage("its constructor");
  if (create(sample_shape, classes, created, error, sizeof(error)) != 0) {
    throw InputRejected(path, "its constructor failed: " + FirstLine(error));
  }
  return {created.module, created.forward};
}

}  // namespace

Model HostModel(const std::string& path, const InputShape& sample_shape, int64_t classes,
                const Stage& stage) {
  stage("its reading");
  std::error_code error;
  const std::filesystem::file_status file = std::filesystem::status(path, error);
  if (std::filesystem::exists(file) && !std::filesystem::is_regular_file(file)) {
    throw InputRejected(path, "is no regular file");
  }
  Model model =
      IsTorchScript(path) ? LoadTorchScript(path) : LoadLibrary(path, sample_shape, classes, stage);
  stage("its forward pass");
  TryModel(model, sample_shape, classes, path);
  model.forward = Named(model.forward, [path](const std::string& cause) {
    return std::runtime_error("'" + path + "': " + cause);
  });
  return model;
}

}  // namespace dlcheck::reference
