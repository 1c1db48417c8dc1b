// Models of plugins that fail, each in a library of its own: libNAME.so has the model NAME.
//
//   constructor_throws  a model that cannot be built
//   forward_throws      a model that wants other inputs
//   wrong_outputs       a model that gives one output too many, and draws random numbers while it
//   does misbehaving         a model that does at one place what no plugin should, as the
//   environment says:
//     PLUGIN_PLACE  load, constructor, destructor, forward or training (the fifth forward pass in
//                   training mode)
//     PLUGIN_DOES   abort, segfault, loop, sleep (two seconds), allocate, leak, exit, leave, throw
//                   or throw_number
//     PLUGIN_RANK   the only rank that does it, if it is set
#include <dlfcn.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include "dlcheck/plugin.h"

namespace {

std::string Variable(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? "" : text;
}

void Allocate() {
  std::vector<torch::Tensor> held;
  while (true) held.push_back(torch::ones({1 << 22}));
}

// As code in C does that does not look at what malloc returns.
void Leak() {
  while (true) static_cast<volatile char*>(std::malloc(1 << 24))[0] = 1;
}

void Misbehave(const std::string& place) {
  if (place != Variable("PLUGIN_PLACE")) return;
  const std::string rank = Variable("PLUGIN_RANK");
  if (!rank.empty() && rank != Variable("RANK")) return;
  const std::string what = Variable("PLUGIN_DOES");
  if (what == "abort") std::abort();
  if (what == "segfault") std::raise(SIGSEGV);
  if (what == "loop") {
    for (volatile bool on = true; on;) {
    }
  }
  if (what == "sleep") sleep(2);
  if (what == "allocate") Allocate();
  if (what == "leak") Leak();
  if (what == "exit") std::exit(0);
  if (what == "leave") _exit(0);
  if (what == "throw") throw std::runtime_error("no such luck");
  if (what == "throw_number") throw 5;
}

const bool loaded = (Misbehave("load"), true);

struct ConstructorThrows : torch::nn::Module {
  ConstructorThrows(dlcheck::InputShape, int64_t) {
    throw std::runtime_error("weights.bin is missing\nand a second line");
  }
  torch::Tensor forward(torch::Tensor x) { return x; }
};

struct ForwardThrows : torch::nn::Module {
  ForwardThrows(dlcheck::InputShape, int64_t classes)
      : head(register_module("head", torch::nn::Linear(3, classes))) {}
  torch::Tensor forward(torch::Tensor x) { return head->forward(x); }
  torch::nn::Linear head;
};

struct WrongOutputs : torch::nn::Module {
  WrongOutputs(dlcheck::InputShape, int64_t classes) : outputs(classes + 1) {}
  torch::Tensor forward(torch::Tensor x) { return torch::randn({x.size(0), outputs}); }
  int64_t outputs;
};

struct Misbehaving : torch::nn::Module {
  Misbehaving(dlcheck::InputShape sample_shape, int64_t classes) {
    int64_t inputs = 1;
    for (const int64_t extent : sample_shape) inputs *= extent;
    head = register_module("head", torch::nn::Linear(inputs, classes));
    Misbehave("constructor");
  }
  ~Misbehaving() override { Misbehave("destructor"); }
  torch::Tensor forward(torch::Tensor x) {
    Misbehave("forward");
    if (is_training() && ++calls == 5) Misbehave("training");
    return head->forward(x.flatten(1));
  }
  torch::nn::Linear head{nullptr};
  int calls = 0;
};

// As "misbehaving" of /folder/libmisbehaving.so.
std::string NameOfOwnLibrary() {
  Dl_info info = {};
  dladdr(&loaded, &info);
  const std::string path = info.dli_fname;
  const size_t begin = path.rfind("/lib") + 4;
  return path.substr(begin, path.rfind('.') - begin);
}

dlcheck::PluginCreateFunction* Creator() {
  const std::string name = NameOfOwnLibrary();
  if (name == "constructor_throws") return dlcheck::CreatePluginModel<ConstructorThrows>;
  if (name == "forward_throws") return dlcheck::CreatePluginModel<ForwardThrows>;
  if (name == "wrong_outputs") return dlcheck::CreatePluginModel<WrongOutputs>;
  return dlcheck::CreatePluginModel<Misbehaving>;
}

}  // namespace

extern "C" dlcheck::PluginVersions dlcheck_plugin_versions() { return dlcheck::BuiltVersions(); }

extern "C" int dlcheck_plugin_create(const dlcheck::InputShape& sample_shape, int64_t classes,
                                     dlcheck::PluginModel& model, char* error, size_t error_bytes) {
  return Creator()(sample_shape, classes, model, error, error_bytes);
}
