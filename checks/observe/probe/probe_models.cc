#include "checks/observe/probe/probe_models.h"

#include <utility>

namespace dlcheck {

std::string DtypeName(const at::Tensor& tensor) {
  return std::string(c10::getDtypeNames(tensor.scalar_type()).first);
}

std::string Shape(const at::Tensor& tensor) {
  std::string text;
  for (const int64_t size : tensor.sizes()) {
    if (!text.empty()) text += 'x';
    text += std::to_string(size);
  }
  return text.empty() ? "1" : text;
}

namespace {

// "float32", as Python spells it.
std::string Joined(const std::string& outer, const std::string& inner) {
  return outer.empty() ? inner : outer + "." + inner;
}

// Whether the module's outputs differ between training and evaluation mode. By name, so that every
// dimension of dropout and batch norm, and a class of the user's own, counts.
bool DependsOnMode(const torch::nn::Module& module) {
  if (const auto* dropout = module.as<torch::nn::Dropout>()) return dropout->options.p() > 0;
  const std::string type = c10::demangle(typeid(module).name());
  return type.find("Dropout") != std::string::npos || type.find("BatchNorm") != std::string::npos;
}

}  // namespace

void ProbeModels::Add(torch::nn::Module& model) {
  ++ordinal_;
  const std::string type = c10::demangle(typeid(model).name());
  const uint32_t thing =
      clock_->writer().Thing("model", ordinal_, type.substr(type.rfind(':') + 1));
  if (ordinal_ == 0) {
    model_thing_ = thing;
    first_ = &model;
  }
  AddModule(model, "");
}

void ProbeModels::AddModule(const torch::nn::Module& module, const std::string& name) {
  const uint32_t module_thing = clock_->writer().Thing("module", ordinal_, name);
  if (DependsOnMode(module)) clock_->writer().Attribute(module_thing, "mode_dependent", "1");
  for (const auto& item : module.named_parameters(/*recurse=*/false)) {
    if (!item.value().defined()) continue;
    Parameter& parameter = parameters_[item.value().unsafeGetTensorImpl()];
    if (parameter.thing != 0) {
      std::string& aliases = parameter.written["alias"];
      if (!aliases.empty()) aliases += ", ";
      aliases += Joined(name, item.key());
      clock_->writer().Attribute(parameter.thing, "alias", aliases);
      continue;
    }
    parameter.tensor = item.value();
    parameter.thing = clock_->writer().Thing("parameter", ordinal_, Joined(name, item.key()));
    parameter.module = name;
    parameter.module_thing = module_thing;
    parameter.owner = &module;
  }
  for (const auto& child : module.named_children()) {
    if (child.value()) AddModule(*child.value(), Joined(name, child.key()));
  }
}

ProbeModels::Parameter& ProbeModels::Adopt(const at::Tensor& tensor, const std::string& name) {
  Parameter& parameter = parameters_[tensor.unsafeGetTensorImpl()];
  if (parameter.thing == 0) {
    parameter.tensor = tensor;
    parameter.thing = clock_->writer().Thing("parameter", 0, name);
    clock_->writer().Attribute(parameter.thing, "orphan", "1");
  }
  return parameter;
}

ProbeModels::Parameter* ProbeModels::Find(const at::Tensor& tensor) {
  const auto found = parameters_.find(tensor.unsafeGetTensorImpl());
  return found == parameters_.end() ? nullptr : &found->second;
}

void ProbeModels::Tie(std::string_view one, std::string_view other) {
  if (first_ == nullptr) return;
  const auto parameters = first_->named_parameters();
  const at::Tensor* a = parameters.find(std::string(one));
  const at::Tensor* b = parameters.find(std::string(other));
  if (a == nullptr || b == nullptr || a->sizes() != b->sizes()) return;
  const uint32_t thing = clock_->writer().Thing("parameter", 0, one);
  clock_->writer().Attribute(thing, "tied_to", other);
  ties_.push_back({*a, *b, thing});
}

void ProbeModels::WriteTies() {
  for (const Tied& tied : ties_) {
    const at::Tensor difference = tied.one.detach() - tied.other.detach();
    clock_->Put(Quantity::kTiedDistance, {tied.thing}, difference.norm().item<double>());
  }
}

std::vector<at::Tensor> ProbeModels::Contents() const {
  if (first_ == nullptr) return {};
  std::vector<at::Tensor> contents = first_->parameters();
  const std::vector<at::Tensor> buffers = first_->buffers();
  contents.insert(contents.end(), buffers.begin(), buffers.end());
  return contents;
}

at::Device ProbeModels::device() const {
  const std::vector<at::Tensor> leaves = Leaves();
  return leaves.empty() ? at::Device(at::kCPU) : leaves.front().device();
}

std::vector<std::pair<uint32_t, at::Tensor>> ProbeModels::Buffers() const {
  std::vector<std::pair<uint32_t, at::Tensor>> found;
  if (first_ == nullptr) return found;
  for (const auto& buffer : first_->named_buffers()) {
    if (!buffer.value().is_floating_point()) continue;
    found.emplace_back(clock_->writer().Thing("buffer", 0, buffer.key()), buffer.value());
  }
  return found;
}

void ProbeModels::Describe() {
  for (auto& [unused, parameter] : parameters_) {
    std::map<std::string, std::string> attributes = {
        {"shape", Shape(parameter.tensor)},
        {"elements", std::to_string(parameter.tensor.numel())},
        {"dtype", DtypeName(parameter.tensor)},
        {"requires_grad", parameter.tensor.requires_grad() ? "1" : "0"},
        {"module", parameter.module}};
    if (!parameter.group.empty()) attributes["optimizer"] = parameter.group;
    for (const auto& [key, value] : attributes) {
      const auto [written, fresh] = parameter.written.try_emplace(key, value);
      if (!fresh && written->second == value) continue;
      written->second = value;
      clock_->writer().Attribute(parameter.thing, key, value);
    }
  }
}

void ProbeModels::LookForGradients() {
  for (auto& [unused, parameter] : parameters_) {
    if (parameter.gradient_seen || !parameter.group.empty() || !parameter.tensor.requires_grad() ||
        !parameter.tensor.grad().defined()) {
      continue;
    }
    parameter.gradient_seen = true;
    clock_->writer().Attribute(parameter.thing, "gradient_seen", "1");
  }
}

std::vector<at::Tensor> ProbeModels::Leaves() const {
  std::vector<at::Tensor> leaves;
  for (const auto& [unused, parameter] : parameters_) {
    if (parameter.tensor.is_leaf() && parameter.tensor.requires_grad()) {
      leaves.push_back(parameter.tensor);
    }
  }
  return leaves;
}

}  // namespace dlcheck
