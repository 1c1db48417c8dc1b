// What --capture says of an optimizer: names as PyTorch's Python has them.
#include <cstdio>
#include <string>
#include <typeinfo>

#include "checks/observe/preload/optimizer_rules.h"

namespace dlcheck {
namespace {

class Members {
 public:
  Members& Add(const char* name, double number) {
    char digits[32];
    std::snprintf(digits, sizeof(digits), "%.17g", number);
    return AddText(name, digits);
  }
  Members& Add(const char* name, bool holds) { return AddText(name, holds ? "true" : "false"); }
  Members& AddText(const char* name, const std::string& text) {
    text_ += (text_.empty() ? "\"" : ", \"") + std::string(name) + "\": " + text;
    return *this;
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

template <typename Options>
void AddAdam(const Options& options, Members& members) {
  char betas[80];
  std::snprintf(betas, sizeof(betas), "[%.17g, %.17g]", std::get<0>(options.betas()),
                std::get<1>(options.betas()));
  members.AddText("betas", betas)
      .Add("eps", options.eps())
      .Add("weight_decay", options.weight_decay())
      .Add("amsgrad", options.amsgrad());
}

void AddOptions(const torch::optim::OptimizerOptions& options, Members& members) {
  if (const auto* adam = dynamic_cast<const torch::optim::AdamOptions*>(&options)) {
    AddAdam(*adam, members);
  } else if (const auto* adam_w = dynamic_cast<const torch::optim::AdamWOptions*>(&options)) {
    AddAdam(*adam_w, members);
  } else if (const auto* sgd = dynamic_cast<const torch::optim::SGDOptions*>(&options)) {
    members.Add("momentum", sgd->momentum())
        .Add("dampening", sgd->dampening())
        .Add("nesterov", sgd->nesterov())
        .Add("weight_decay", sgd->weight_decay());
  } else if (const auto* rms = dynamic_cast<const torch::optim::RMSpropOptions*>(&options)) {
    members.Add("alpha", rms->alpha())
        .Add("eps", rms->eps())
        .Add("momentum", rms->momentum())
        .Add("centered", rms->centered())
        .Add("weight_decay", rms->weight_decay());
  } else if (const auto* adagrad = dynamic_cast<const torch::optim::AdagradOptions*>(&options)) {
    members.Add("eps", adagrad->eps()).Add("weight_decay", adagrad->weight_decay());
  }
}

}  // namespace

std::string SettingsOf(const torch::optim::Optimizer& optimizer) {
  std::string name = c10::demangle(typeid(optimizer).name());
  name = name.substr(name.rfind(':') + 1);
  Members members;
  members.AddText("name", "\"" + name + "\"");
  const auto& groups = optimizer.param_groups();
  if (groups.empty() || !groups[0].has_options()) return members.text();
  members.Add("lr", groups[0].options().get_lr());
  AddOptions(groups[0].options(), members);
  return members.text();
}

}  // namespace dlcheck
