#include "checks/signals/evaluation/evaluation_passes.h"

#include <map>
#include <utility>

#include "absl/strings/numbers.h"
#include "checks/signals/run/first_process.h"

namespace dlcheck {
namespace {

using Pass = EvaluationPasses::Pass;

// Reads events one after the other.
struct Reader {
  const Trace& trace;
  EvaluationPasses result = {};
  Pass open = {};
  bool is_open = false;
  ThingId handed_out = 0;  // the loader of a batch that nothing was fed with yet
  double samples = 0;      // of that batch
  std::set<ThingId> optimizers = {};

  void Begin(const Occurrence& event, bool anew) {
    if (is_open && !anew) return;
    open = Pass();
    open.began = event.order;
    is_open = true;
  }

  void Forward(const Occurrence& event) {
    Begin(event, false);
    ++open.batches;
    if (event.value != 0) ++open.in_training_mode;
    if (event.thing != 0) open.models.insert(trace.Display(event.thing));
    if (handed_out == 0) return;
    ++open.fed;
    open.handed_out += samples;
    open.loaders.insert(std::exchange(handed_out, 0));
  }

  void End(const Occurrence& event) {
    if (!is_open) return;
    is_open = false;
    open.step = event.step;
    open.ended = event.order;
    result.passes.push_back(open);
  }

  void Read(const Occurrence& event) {
    switch (event.event) {
      case Event::kEvaluationBegan:
        Begin(event, true);
        break;
      case Event::kEvaluationForward:
        Forward(event);
        break;
      case Event::kEvaluated:
      case Event::kEvaluationEnded:
        End(event);
        break;
      case Event::kFetched:
        handed_out = event.thing;
        samples = event.aux;
        break;
      case Event::kUsed:
        handed_out = 0;
        break;
      case Event::kStep:
        handed_out = 0;
        ++result.steps;
        optimizers.insert(event.thing);
        break;
      case Event::kLoaded:
        if (trace.thing(event.thing).kind == "model" && result.steps > 0) result.loads_later = true;
        break;
      default:
        break;
    }
  }
};

// 0 if it is not known.
double NumberOf(const Trace& trace, ThingId thing, std::string_view key) {
  double number = 0;
  return absl::SimpleAtod(std::string(trace.Attribute(thing, key)), &number) ? number : 0;
}

void AddLoaders(const Trace& trace, EvaluationPasses& result) {
  for (const Pass& pass : result.passes) {
    for (const ThingId id : pass.loaders) {
      result.loaders.insert_or_assign(
          id, EvaluationPasses::Loader{.name = trace.Display(id),
                                       .samples = NumberOf(trace, id, "samples"),
                                       .batch_size = NumberOf(trace, id, "batch_size"),
                                       .is_sharded = !trace.Attribute(id, "dealt_to").empty()});
    }
  }
}

// The pass that ended before a record, in its step; null if there is none.
Pass* EndedBefore(std::vector<Pass>& passes, const Sample& sample) {
  Pass* found = nullptr;
  for (Pass& pass : passes) {
    if (pass.ended < sample.order && pass.step == sample.step) found = &pass;
  }
  return found;
}

template <typename Take>
void ForEach(const Trace& trace, Quantity quantity, const Take& take) {
  for (const ThingId thing : trace.ThingsWith(quantity)) {
    for (const Sample& sample : FirstProcess(trace.Series(quantity, thing))) take(sample);
  }
}

// What is written of a pass once it has ended.
void AddResults(const Trace& trace, std::vector<Pass>& passes) {
  const auto add = [&](Quantity quantity, const auto& take) {
    ForEach(trace, quantity, [&](const Sample& sample) {
      if (Pass* pass = EndedBefore(passes, sample)) take(*pass, sample);
    });
  };
  add(Quantity::kTrainedRows, [](Pass& pass, const Sample& sample) {
    pass.trained = sample.value;
    pass.different = sample.aux;
  });
  add(Quantity::kRepeatedRows, [](Pass& pass, const Sample& sample) {
    pass.repeated = sample.value;
    pass.rows = sample.aux;
  });
  add(Quantity::kEvaluationLoss, [](Pass& pass, const Sample& sample) {
    pass.loss = sample.value;
    pass.samples = sample.aux;
  });
  add(Quantity::kEvaluationFingerprint, [](Pass& pass, const Sample& sample) {
    pass.data = {sample.value, sample.aux};
  });
  ForEach(trace, Quantity::kModelDigest, [&](const Sample& sample) {
    for (Pass& pass : passes) {
      const bool within = sample.order >= pass.began && sample.order <= pass.ended;
      if (within && !pass.weights) pass.weights = {sample.value, sample.aux};
    }
  });
}

}  // namespace

absl::StatusOr<EvaluationPasses> EvaluationPasses::From(const Run& run) {
  Reader reader{.trace = run.trace};
  for (const Occurrence& event : FirstProcess(run.trace.Events())) {
    if (!event.gap) reader.Read(event);
  }
  EvaluationPasses& result = reader.result;
  if (result.passes.empty()) return absl::NotFoundError("no evaluation was observed");
  result.optimizers = reader.optimizers.size();
  AddResults(run.trace, result.passes);
  AddLoaders(run.trace, result);
  for (const ThingId module : run.trace.ThingsOfKind("module")) {
    if (run.trace.Attribute(module, "mode_dependent") == "1") result.mode_dependent = true;
  }
  return std::move(result);
}

}  // namespace dlcheck
