#include "checks/observe/preload/dropout_calls.h"

#include <algorithm>
#include <string_view>

#include "checks/observe/preload/call_sites.h"

namespace dlcheck {
namespace {

// A module of dropout calls the same functions with its own mode, which may differ from the
// model's.
bool SomeModuleDrops(const ProbeModels& models) {
  const auto& modules = models.unseen_modules(models.running());
  return std::any_of(modules.begin(), modules.end(),
                     [&](const auto& module) { return models.IsTraining(module.first); });
}

}  // namespace

bool DropoutCalls::Is(const at::RecordFunction& function) {
  const std::string_view name = function.name();
  return name == "aten::dropout" || name == "aten::feature_dropout" ||
         name == "aten::alpha_dropout" || name == "aten::feature_alpha_dropout";
}

double DropoutCalls::ProbabilityOf(const at::RecordFunction& function) {
  const auto inputs = function.inputs();
  const bool drops =
      inputs.size() >= 3 && inputs[1].isDouble() && inputs[2].isBool() && inputs[2].toBool();
  return drops ? inputs[1].toDouble() : 0;
}

void DropoutCalls::Saw(const at::RecordFunction& function, ProbeRecorder& recorder) {
  const auto inputs = function.inputs();
  if (inputs.size() < 3 || !inputs[1].isDouble() || !inputs[2].isBool()) return;
  const double probability = inputs[1].toDouble();
  ProbeModels& models = recorder.models();
  if (probability <= 0 || models.count() == 0) return;
  const int model = models.running();
  const bool drops = inputs[2].toBool();
  if (drops == models.IsTraining()) {
    if (!dependent_.insert(model).second) return;
    const uint32_t thing = models.AddModeDependent(model, "torch::dropout");
    if (!drops || probability < kStrongDropoutProbability) return;
    recorder.clock().Put(Quantity::kStrongDropout, {thing, 0, recorder.Site(CallSite())},
                         probability);
    return;
  }
  if (!drops || SomeModuleDrops(models)) return;
  const int64_t calls = ++active_[model];
  if ((calls & (calls - 1)) != 0) return;
  const Probe::Site site = CallSite();
  ProbeClock& clock = recorder.clock();
  clock.Put(Quantity::kEvaluationDropout,
            {models.model_thing(), 0, clock.writer().Site(site.file, site.line, site.function)},
            static_cast<double>(calls), probability);
}

}  // namespace dlcheck
