#include <algorithm>
#include <set>
#include <span>

#include "checks/catalog/batch_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/batches.h"
#include "checks/signals/loss_functions.h"

namespace dlcheck::data {
namespace {

constexpr Setting kSteps{.name = "steps",
                         .value = 8,
                         .low = 1,
                         .high = 1e6,
                         .unit = "sampled steps",
                         .meaning = "steps that have to show it",
                         .source = "own reasoning"};

bool CountsClasses(const LossFunctions::Function& function) {
  return function.kind == "cross_entropy" || function.kind == "nll";
}

// Steps at which every loss had one target. Of a regression the first dimension says too little, as
// it may be that of time.
std::set<int64_t> StepsOfOneTarget(const LossFunctions& losses) {
  std::set<int64_t> one, more;
  for (const LossFunctions::Function& function : losses.functions) {
    const bool known = CountsClasses(function);
    for (const Sample& share : function.shares) (share.aux == 1 ? one : more).insert(share.step);
    for (const Sample& loss : function.losses) {
      if (known) (loss.aux == 1 ? one : more).insert(loss.step);
    }
  }
  std::erase_if(one, [&](int64_t step) { return more.contains(step); });
  return one;
}

std::span<const Batches::Fetch> FetchesOf(const Batches& batches, int64_t step) {
  const auto found = batches.fetches.find(step);
  return found == batches.fetches.end() ? std::span<const Batches::Fetch>() : found->second;
}

// One batch handed out for each that was used, as one sample: samples that are taken one by one out
// of a batch are used as many times as there are.
bool IsOneForOne(const Batches& batches, int64_t step) {
  const std::span<const Batches::Fetch> fetches = FetchesOf(batches, step);
  const auto used = std::ranges::count(batches.batches, step, &Batches::Batch::step);
  return used == static_cast<int64_t>(fetches.size()) &&
         std::ranges::all_of(fetches, [](const Batches::Fetch& f) { return f.samples > 1; });
}

// Of several loaders nobody knows which batches an evaluation used, and which the step.
bool HasOneLoader(const Batches& batches, int64_t step) {
  const std::span<const Batches::Fetch> fetches = FetchesOf(batches, step);
  return std::ranges::all_of(
      fetches, [&](const Batches::Fetch& fetch) { return fetch.loader == fetches.front().loader; });
}

absl::StatusOr<Verdict> Judge(const Settings& settings, const Batches& batches,
                              const LossFunctions& losses) {
  const std::set<int64_t> of_one_target = StepsOfOneTarget(losses);
  std::set<int64_t> steps, lost;
  const Batches::Batch* first = nullptr;
  for (const Batches::Batch& batch : batches.batches) {
    if (!batch.fetched || !HasOneLoader(batches, batch.step)) continue;
    steps.insert(batch.step);
    if (batch.size != 1 || !of_one_target.contains(batch.step)) continue;
    if (!IsOneForOne(batches, batch.step)) continue;
    if (first == nullptr) first = &batch;
    lost.insert(batch.step);
  }
  if (static_cast<double>(steps.size()) < settings[kSteps]) {
    return absl::NotFoundError(StrCat("one loader alone was seen to feed a model in fewer than ",
                                      settings[kSteps], " sampled steps"));
  }
  Verdict verdict{.findings = {},
                  .judged = Counted(static_cast<int64_t>(steps.size()), "sampled step")};
  if (lost.size() < steps.size()) return verdict;
  verdict.findings.push_back(
      {.severity = Severity::kWarning,
       .message = StrCat("In all of ", Counted(static_cast<int64_t>(lost.size()), "sampled step"),
                         " the loader handed out several samples (", first->fetched->samples,
                         " at step ", first->step, "), but ", first->model,
                         " was given one row and the loss counted one target."),
       .places = {{.thing = first->model, .file = ""}},
       .first_step = *lost.begin(),
       .last_step = *lost.rbegin(),
       .count = static_cast<int64_t>(lost.size()),
       .measured = 1,
       .bound = first->fetched->samples});
  return verdict;
}

}  // namespace

Check LostBatchDimension() {
  return {
      .id = "data/lost_batch_dimension",
      .promise = "A model is given as many samples as its loader handed out.",
      .why =
          "Samples of a batch are mixed into one, or all but one are dropped: the model trains on "
          "a fraction of the data, or on something that is no sample.",
      .method =
          "In each sampled step that one loader alone fed: samples of the batch handed out, first "
          "dimension of the model's input, targets that the loss counted: several, then one, and "
          "one.",
      .fix =
          "Look between the loader and the model for [0], squeeze(0), view(1, -1), unsqueeze(0), "
          "or a processor that takes one sample.",
      .limits =
          "Samples that go in one by one are clean. Batches joined on purpose into one sample, "
          "such as a bag or a collage with one target, look the same: hence a warning.",
      .sources = {"own reasoning"},
      .covers = {"D26"},
      .explains = {},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kUsed,
      .settings = {kSteps},
      .judgement = Reads<&Judge>(),
      .examples = {{"a row for each sample", Expect::kClean,
                    [] { return WithBatches({.used = 32}); }},
                   {"one row for 32", Expect::kFaulty,
                    [] { return WithBatches({.used = 1, .counted = 1}); }},
                   {"one row that holds 32 targets", Expect::kClean,
                    [] { return WithBatches({.used = 1}); }},
                   {"one by one", Expect::kClean,
                    [] { return WithBatches({.fetched = 2, .used = 1, .counted = 1, .uses = 2}); }},
                   {"an evaluation after every fourth step", Expect::kFaulty,
                    [] { return WithBatches({.used = 1, .counted = 1, .others_each = 4}); }},
                   {"batches of one", Expect::kClean,
                    [] { return WithBatches({.fetched = 1, .used = 1, .counted = 1}); }}},
  };
}

}  // namespace dlcheck::data
