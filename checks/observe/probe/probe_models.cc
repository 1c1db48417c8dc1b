#include "checks/observe/probe/probe_models.h"

#include <set>
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

void ProbeModels::Add(torch::nn::Module& model) {
  if (models_.empty()) first_ = &model;
  Add(ModelTree::Of(model));
}

void ProbeModels::Add(const ModelTree& tree) {
  const int ordinal = count();
  models_.emplace_back(tree, tree.modules.front().address);
  Model& model = models_.back();
  model.thing = clock_->writer().Thing("model", ordinal, tree.type);
  std::vector<uint32_t> things;
  for (const ModelTree::Module& module : tree.modules) {
    things.push_back(clock_->writer().Thing("module", ordinal, module.name));
    if (module.depends_on_mode) clock_->writer().Attribute(things.back(), "mode_dependent", "1");
    if (module.dropped >= kStrongDropoutProbability) {
      clock_->Put(Quantity::kStrongDropout, {things.back()}, module.dropped);
    }
  }
  FindUnseen(model, things);
  for (const ModelTree::Tensor& item : tree.parameters) {
    Parameter& parameter = parameters_[item.tensor.unsafeGetTensorImpl()];
    if (parameter.thing != 0) {
      std::string& aliases = parameter.written["alias"];
      if (!aliases.empty()) aliases += ", ";
      aliases += item.name;
      clock_->writer().Attribute(parameter.thing, "alias", aliases);
      continue;
    }
    parameter.tensor = item.tensor;
    parameter.thing = clock_->writer().Thing("parameter", ordinal, item.name);
    parameter.module = tree.modules[item.module].name;
    parameter.module_thing = things[item.module];
    parameter.owner = tree.modules[item.module].address;
    parameter.model = ordinal;
  }
}

void ProbeModels::FindUnseen(Model& model, const std::vector<uint32_t>& things) {
  std::set<size_t> with_parameters;
  for (const ModelTree::Tensor& item : model.tree.parameters) with_parameters.insert(item.module);
  if (!with_parameters.empty()) model.first_module = things[*with_parameters.begin()];
  for (size_t i = 0; i < model.tree.modules.size(); ++i) {
    const ModelTree::Module& module = model.tree.modules[i];
    if (!module.depends_on_mode || with_parameters.count(i) > 0) continue;
    model.unseen.emplace_back(module.address, things[i]);
  }
}

uint32_t ProbeModels::AddModeDependent(int model, const std::string& name) {
  const uint32_t thing = clock_->writer().Thing("module", model, name);
  clock_->writer().Attribute(thing, "mode_dependent", "1");
  Model& found = models_[static_cast<size_t>(model)];
  found.unseen.emplace_back(found.root, thing);
  return thing;
}

uint32_t ProbeModels::ThingOfRoot(const torch::nn::Module* module) const {
  // The last one: an earlier one at the same address is gone.
  for (size_t i = models_.size(); i-- > 0;) {
    if (models_[i].root == module) return models_[i].thing;
  }
  return 0;
}

bool ProbeModels::IsTraining(const torch::nn::Module* module) const {
  if (first_ != nullptr) return module->is_training();  // all outlive this
  const auto told = modes_.find(module);
  return told == modes_.end() || told->second;
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

void ProbeModels::AddForgotten(const at::Tensor& weight, const std::string& name) {
  Parameter& parameter = parameters_[weight.unsafeGetTensorImpl()];
  if (parameter.thing != 0) return;
  parameter.tensor = weight;
  parameter.thing = clock_->writer().Thing("parameter", 0, name);
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
  if (models_.empty()) return {};
  if (first_ == nullptr || running_ > 0) return Running().tree.Contents();
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
  const auto add = [&](const std::string& name, const at::Tensor& buffer) {
    if (!buffer.is_floating_point()) return;
    found.emplace_back(clock_->writer().Thing("buffer", running_, name), buffer);
  };
  if (models_.empty()) return found;
  if (first_ == nullptr || running_ > 0) {
    for (const ModelTree::Tensor& item : Running().tree.buffers) add(item.name, item.tensor);
  } else {
    for (const auto& item : first_->named_buffers()) add(item.key(), item.value());
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
