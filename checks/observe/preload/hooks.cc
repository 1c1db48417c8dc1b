// The functions that stand in the place of LibTorch's, one for each entry: each tells the watcher,
// if there is one, and calls the original with the same arguments. Their types are those of the
// originals in the ABI: a member function takes its object first.
#include <torch/csrc/autograd/graph_task.h>
#include <torch/torch.h>

#include <map>
#include <utility>

#include "checks/observe/preload/call_sites.h"
#include "checks/observe/preload/hooks.h"

namespace dlcheck {

void** Originals() {
  static void* originals[64];
  return originals;
}

namespace {

using torch::optim::Optimizer;
using Closure = Optimizer::LossClosure;

// Tells the watcher that a step ended, whether it returned or threw.
class Stepping {
 public:
  Stepping(Watcher& watcher, Optimizer& optimizer) : watcher_(&watcher) {
    Tell([&](Watcher& told) { number_ = told.BeginStep(optimizer); });
  }
  ~Stepping() { watcher_->LeaveStep(); }
  Stepping(const Stepping&) = delete;
  Stepping& operator=(const Stepping&) = delete;
  int number() const { return number_; }

 private:
  Watcher* watcher_;
  int number_ = Watcher::kUnwatched;
};

template <Entry entry>
at::Tensor Step(Optimizer* optimizer, Closure closure) {
  using Original = at::Tensor(Optimizer*, Closure);
  Watcher* watcher = Watcher::Here();
  if (watcher == nullptr) return OriginalOf<Original>(entry)(optimizer, std::move(closure));
  at::Tensor loss;
  int number = Watcher::kUnwatched;
  {
    const Stepping stepping(*watcher, *optimizer);
    number = stepping.number();
    if (!closure) {
      Tell([&](Watcher& told) { told.Consume(number); });
    } else {
      // The gradients that count are there only after the closure ran.
      closure = [watcher, number, inner = std::move(closure)] {
        watcher->StepPauses(true);
        at::Tensor result = inner();
        watcher->StepPauses(false);
        Tell([&](Watcher& told) { told.Consume(number); });
        return result;
      };
    }
    const auto own = [&](Closure given) {
      return OriginalOf<Original>(entry)(optimizer, std::move(given));
    };
    ProgramExperiment* const experiment = watcher->experiment();
    loss = experiment == nullptr || number == Watcher::kUnwatched
               ? own(std::move(closure))
               : experiment->Step(*optimizer, number, std::move(closure), own);
  }
  Tell([&](Watcher& told) { told.AfterStep(*optimizer, number); });
  return loss;
}

void ZeroGrad(Optimizer* optimizer, bool set_to_none) {
  Tell([](Watcher& watcher) { watcher.ZeroingBegins(); });
  OriginalOf<void(Optimizer*, bool)>(Entry::kZeroGrad)(optimizer, set_to_none);
  Tell([&](Watcher& watcher) { watcher.Cleared(*optimizer); });
}

void AddGroup(Optimizer* optimizer, const torch::optim::OptimizerParamGroup& group) {
  OriginalOf<void(Optimizer*, const torch::optim::OptimizerParamGroup&)>(Entry::kAddGroup)(
      optimizer, group);
  (void)Watcher::Begin();
  Tell([&](Watcher& watcher) { watcher.OptimizerBuilt(*optimizer); });
}

std::vector<at::Tensor> Parameters(const torch::nn::Module* module, bool recurse) {
  if (recurse) Watcher::SawModel(*module);
  return OriginalOf<std::vector<at::Tensor>(const torch::nn::Module*, bool)>(Entry::kParameters)(
      module, recurse);
}

using Named = torch::OrderedDict<std::string, at::Tensor>;
Named NamedParameters(const torch::nn::Module* module, bool recurse) {
  if (recurse) Watcher::SawModel(*module);
  return OriginalOf<Named(const torch::nn::Module*, bool)>(Entry::kNamedParameters)(module,
                                                                                    recurse);
}

void Train(torch::nn::Module* module, bool is_training) {
  thread_local int calls = 0;
  const Depth depth(calls);
  OriginalOf<void(torch::nn::Module*, bool)>(Entry::kTrain)(module, is_training);
  Tell([&](Watcher& watcher) { watcher.ModeSet(*module, is_training, depth.is_outermost()); });
}

void ModuleZeroGrad(torch::nn::Module* module, bool set_to_none) {
  Watcher::SawModel(*module);
  Tell([](Watcher& watcher) { watcher.ZeroingBegins(); });
  OriginalOf<void(torch::nn::Module*, bool)>(Entry::kModuleZeroGrad)(module, set_to_none);
}

using Tensors = std::vector<at::Tensor>;
void Backward(const Tensors& roots, const Tensors& gradients, std::optional<bool> keeps_graph,
              bool makes_graph, const Tensors& inputs) {
  // Within another one, as of a checkpoint that calculates again, it is a part of that.
  const bool is_outermost = torch::autograd::get_current_graph_task_id() == -1;
  if (is_outermost) {
    Watcher::BeginWithModel();
    Tell([&](Watcher& watcher) { watcher.BackwardBegins(roots); });
  }
  OriginalOf<void(const Tensors&, const Tensors&, std::optional<bool>, bool, const Tensors&)>(
      Entry::kBackward)(roots, gradients, keeps_graph, makes_graph, inputs);
  if (is_outermost) Tell([](Watcher& watcher) { watcher.BackwardEnds(); });
}

Tensors Grad(const Tensors& outputs, const Tensors& inputs, const Tensors& gradients,
             std::optional<bool> keeps_graph, bool makes_graph, bool allow_unused) {
  Tensors given = OriginalOf<Tensors(const Tensors&, const Tensors&, const Tensors&,
                                     std::optional<bool>, bool, bool)>(Entry::kGrad)(
      outputs, inputs, gradients, keeps_graph, makes_graph, allow_unused);
  if (torch::autograd::get_current_graph_task_id() == -1) {
    Tell([&](Watcher& watcher) { watcher.GradientsGiven(inputs, given, makes_graph); });
  }
  return given;
}

void SetGradMode(bool enabled) {
  OriginalOf<void(bool)>(Entry::kSetGradMode)(enabled);
  // LibTorch disables gradients for parts of its own work, also with other callbacks in place.
  const void* caller = __builtin_return_address(0);
  Tell([caller](Watcher& watcher) {
    if (IsProgram(caller)) watcher.GradModeSet();
  });
}

// torch::manual_seed() is compiled into the program, and asks for the generator there.
const at::Generator& DefaultGenerator() {
  const void* caller = __builtin_return_address(0);
  Tell([caller](Watcher& watcher) {
    if (IsProgram(caller)) watcher.GeneratorAsked();
  });
  return OriginalOf<const at::Generator&()>(Entry::kDefaultGenerator)();
}

// The members of a scheduler, of which the optimizer is private.
struct SchedulerLayout {
  void* type;
  unsigned steps;
  Optimizer* optimizer;
};
static_assert(sizeof(SchedulerLayout) == sizeof(torch::optim::LRScheduler));

void Scheduled(torch::optim::LRScheduler* scheduler) {
  OriginalOf<void(torch::optim::LRScheduler*)>(Entry::kScheduled)(scheduler);
  Tell([scheduler](Watcher& watcher) {
    watcher.Scheduled(*reinterpret_cast<const SchedulerLayout*>(scheduler)->optimizer);
  });
}

// The members of a scheduler that waits for plateaus, all of which are private.
struct PlateauLayout {
  void* type;
  Optimizer* optimizer;
  int mode;
  float mode_worse, factor;
  int patience;
  double threshold;
  int threshold_mode, cooldown, cooldown_counter;
  std::vector<float> least_rates;
  double epsilon;
  float best;
  bool is_verbose;
  int last_epoch, bad_epochs;
};
using Plateau = torch::optim::ReduceLROnPlateauScheduler;
static_assert(sizeof(PlateauLayout) == sizeof(Plateau));

void PlateauStep(Plateau* scheduler, float metric) {
  Tell([&](Watcher& watcher) {
    const int mode = reinterpret_cast<const PlateauLayout*>(scheduler)->mode;
    watcher.PlateauGiven(mode == Plateau::max, metric);
  });
  OriginalOf<void(Plateau*, float)>(Entry::kPlateauStep)(scheduler, metric);
}

using torch::optim::OptimizerOptions;

template <Entry kEntry>
void SetRate(OptimizerOptions* options, double lr) {
  OriginalOf<void(OptimizerOptions*, double)>(kEntry)(options, lr);
  Tell([&](Watcher& watcher) { watcher.RateSet(*options, lr); });
}

void SchedulerBuilt(torch::optim::LRScheduler* scheduler, Optimizer& optimizer) {
  OriginalOf<void(torch::optim::LRScheduler*, Optimizer&)>(Entry::kSchedulerBuilt)(scheduler,
                                                                                   optimizer);
  Tell([&](Watcher& watcher) { watcher.SchedulerBuilt(optimizer); });
}

void* HookOf(Entry entry) {
  static const auto* hooks = new std::map<Entry, void*>{
      {Entry::kSgdStep, Address(&Step<Entry::kSgdStep>)},
      {Entry::kAdamStep, Address(&Step<Entry::kAdamStep>)},
      {Entry::kAdamWStep, Address(&Step<Entry::kAdamWStep>)},
      {Entry::kRmspropStep, Address(&Step<Entry::kRmspropStep>)},
      {Entry::kAdagradStep, Address(&Step<Entry::kAdagradStep>)},
      {Entry::kLbfgsStep, Address(&Step<Entry::kLbfgsStep>)},
      {Entry::kZeroGrad, Address(&ZeroGrad)},
      {Entry::kAddGroup, Address(&AddGroup)},
      {Entry::kParameters, Address(&Parameters)},
      {Entry::kNamedParameters, Address(&NamedParameters)},
      {Entry::kTrain, Address(&Train)},
      {Entry::kModuleZeroGrad, Address(&ModuleZeroGrad)},
      {Entry::kBackward, Address(&Backward)},
      {Entry::kGrad, Address(&Grad)},
      {Entry::kSetGradMode, Address(&SetGradMode)},
      {Entry::kDefaultGenerator, Address(&DefaultGenerator)},
      {Entry::kScheduled, Address(&Scheduled)},
      {Entry::kSchedulerBuilt, Address(&SchedulerBuilt)},
      {Entry::kPlateauStep, Address(&PlateauStep)},
      {Entry::kSgdRate, Address(&SetRate<Entry::kSgdRate>)},
      {Entry::kAdamRate, Address(&SetRate<Entry::kAdamRate>)},
      {Entry::kAdamWRate, Address(&SetRate<Entry::kAdamWRate>)},
      {Entry::kRmspropRate, Address(&SetRate<Entry::kRmspropRate>)},
      {Entry::kAdagradRate, Address(&SetRate<Entry::kAdagradRate>)},
  };
  const auto found = hooks->find(entry);
  if (found != hooks->end()) return found->second;
  void* const sampler = SamplerHookOf(entry);
  return sampler != nullptr ? sampler : ArchiveHookOf(entry);
}

}  // namespace
}  // namespace dlcheck

extern "C" __attribute__((visibility("default"))) void* dlcheck_go_around(int entry,
                                                                          void* original) {
  if (original == nullptr) return nullptr;
  dlcheck::Originals()[entry] = original;
  return dlcheck::HookOf(static_cast<dlcheck::Entry>(entry));
}

extern "C" __attribute__((visibility("default"))) void dlcheck_yield() {
  dlcheck::Watcher::EndAll();
}

extern "C" __attribute__((visibility("default"))) void dlcheck_end() {
  dlcheck::Watcher::ProcessEnds();
}
