// A plugin that does at one place what no plugin should, as the environment says:
//   PLUGIN_PLACE  load, constructor, destructor, forward or training (the fifth forward pass in
//                 training mode)
//   PLUGIN_DOES   abort, segfault, loop, sleep (two seconds), allocate, leak, exit, leave, throw
//                 or throw_number
//   PLUGIN_RANK   the only rank that does it, if it is set
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

[[maybe_unused]] const bool loaded = (Misbehave("load"), true);

}  // namespace

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

DLCHECK_MODEL(Misbehaving);
