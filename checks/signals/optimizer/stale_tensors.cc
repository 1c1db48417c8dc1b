#include "checks/signals/optimizer/stale_tensors.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace dlcheck {
namespace {

using Parameters = std::vector<const Gradients::Parameter*>;

// Parameters of models that got gradients but are in no optimizer, by shape.
std::map<std::string, Parameters> Orphaned(const Gradients& gradients) {
  std::map<std::string, Parameters> found;
  for (const Gradients::Parameter& parameter : gradients.parameters) {
    const bool is_used = !parameter.orphan && parameter.requires_grad && parameter.gradient_seen;
    if (is_used && parameter.optimizer.empty()) found[parameter.shape].push_back(&parameter);
  }
  return found;
}

// Models of which no part ran or got a gradient, and all have a counterpart. A program may keep the
// model that it replaced.
std::set<int> Replaced(const Gradients& gradients, const std::map<std::string, Parameters>& free) {
  std::set<int> models, others;
  std::map<std::pair<int, std::string>, size_t> needed;
  for (const Gradients::Parameter& parameter : gradients.parameters) {
    if (parameter.orphan) continue;
    const bool is_idle = !parameter.module_ran && !parameter.gradient_seen;
    (is_idle && !parameter.optimizer.empty() ? models : others).insert(parameter.model);
    const auto fitting = free.find(parameter.shape);
    const size_t all = fitting == free.end() ? 0 : fitting->second.size();
    if (++needed[{parameter.model, parameter.shape}] > all) others.insert(parameter.model);
  }
  for (const int model : others) models.erase(model);
  return models;
}

// The parameters of one model that an optimizer trains.
std::map<int, Parameters> TrainedByModel(const Gradients& gradients) {
  std::map<int, Parameters> trained;
  for (const Gradients::Parameter& parameter : gradients.parameters) {
    const bool is_trained = !parameter.optimizer.empty() && !parameter.orphan;
    if (is_trained && parameter.requires_grad) trained[parameter.model].push_back(&parameter);
  }
  return trained;
}

}  // namespace

StaleTensors NeverUsed(const Gradients& gradients, double enough) {
  std::map<std::string, Parameters> free = Orphaned(gradients);
  const std::set<int> replaced = Replaced(gradients, free);
  StaleTensors stale;
  for (const Gradients::Parameter& parameter : gradients.parameters) {
    if (!parameter.orphan && !replaced.contains(parameter.model)) continue;
    if (parameter.gradient_seen || !parameter.requires_grad) continue;
    if (static_cast<double>(parameter.optimizer_steps) < enough) continue;
    Parameters& fitting = free[parameter.shape];
    stale.all_matched = stale.all_matched && !fitting.empty();
    if (fitting.empty()) continue;
    stale.held.push_back(parameter.name);
    stale.used.push_back(fitting.front()->name);
    fitting.erase(fitting.begin());
  }
  return stale;
}

StaleTensors UsedNoMore(const Gradients& gradients, double enough) {
  for (const auto& [model, trained] : TrainedByModel(gradients)) {
    const bool has_ended = std::ranges::all_of(trained, [&](const Gradients::Parameter* parameter) {
      return parameter->HasZerosAtTheEnd(enough);
    });
    if (!has_ended) continue;
    std::map<std::string, Parameters> free = Orphaned(gradients);
    StaleTensors stale;
    for (const Gradients::Parameter* parameter : trained) {
      stale.last_step = std::max(stale.last_step, parameter->last_nonzero);
      Parameters& fitting = free[parameter->shape];
      std::erase_if(fitting, [&](const Gradients::Parameter* other) {
        return other->model == parameter->model;
      });
      if (fitting.empty()) break;
      stale.held.push_back(parameter->name);
      stale.used.push_back(fitting.front()->name);
      fitting.erase(fitting.begin());
    }
    if (stale.last_step >= 0 && stale.held.size() == trained.size()) return stale;
  }
  return {};
}

}  // namespace dlcheck
