#include <algorithm>
#include <set>
#include <span>

#include "checks/catalog/examples/batch_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/data/batches.h"
#include "checks/signals/loss/loss_functions.h"

namespace dlcheck::data {
namespace {

constexpr Setting kSteps{.name = "steps",
                         .value = 8,
                         .low = 1,
                         .high = 1e6,
                         .unit = "sampled steps",
                         .meaning = "fewest sampled steps that one loader alone feeds",
                         .source = "own reasoning"};

bool CountsClasses(const LossFunctions::Function& function) {
  return function.kind == "cross_entropy" || function.kind == "nll";
}

// Steps at which every loss had one target. The first dimension of a regression says too little: it
// may be time.
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

// The loader returned one batch for each that the model used as one sample. A program that takes
// the samples out of a batch one by one uses as many as there are.
bool IsOneForOne(const Batches& batches, int64_t step) {
  const std::span<const Batches::Fetch> fetches = FetchesOf(batches, step);
  const auto used = std::ranges::count(batches.batches, step, &Batches::Batch::step);
  return used == static_cast<int64_t>(fetches.size()) &&
         std::ranges::all_of(fetches, [](const Batches::Fetch& f) { return f.samples > 1; });
}

// With several loaders, it is unknown which batches an evaluation used and which the step.
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
    return absl::NotFoundError(
        StrCat("one loader alone fed a model in fewer than ", settings[kSteps], " sampled steps"));
  }
  Verdict verdict{.findings = {},
                  .judged = Counted(static_cast<int64_t>(steps.size()), "sampled step")};
  if (lost.size() < steps.size()) return verdict;
  verdict.findings.push_back(
      {.severity = Severity::kWarning,
       .message = StrCat("In all of ", Counted(static_cast<int64_t>(lost.size()), "sampled step"),
                         " the loader returned several samples (", first->fetched->samples,
                         " at step ", first->step, "), but ", first->model,
                         " received one row and the loss counted one target."),
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
      .title = "A whole batch enters the model as one sample",
      .promise = "A model receives as many samples as its loader returned.",
      .why =
          "The samples of a batch are mixed into one, or all but one are dropped. The model trains "
          "on a fraction of the data, or on input that is not a sample.",
      .method =
          "Compares three numbers in each sampled step that one loader alone feeds. The numbers "
          "are the loader's samples, the first dimension of the model's input, and the targets "
          "that the loss counts. Reports several samples, one row and one target.",
      .fix =
          "Look between loader and model for [0], squeeze(0), view(1, -1), unsqueeze(0), or a "
          "processor that takes one sample. Remove that line or keep the batch dimension.",
      .limits = {.needs = "Eight sampled steps that one loader alone feeds.",
                 .silent_when =
                     "The program passes the samples of a batch to the model one by one.",
                 .severity = "Always a warning: a batch may be one sample on purpose, such as a "
                             "bag or a collage with one target.",
                 .blind_spots = "",
                 .sensitivity = ""},
      .python = {.bad = R"(for x, y in loader:
    optimizer.zero_grad()
    loss = criterion(model(x[0:1]), y[0:1])
    loss.backward()
    optimizer.step())",
                 .good = R"(for x, y in loader:
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.step())"},
      .cpp = {.bad = R"(for (auto& batch : *loader) {
  auto one = batch.data.slice(0, 0, 1);
  criterion(model->forward(one), batch.target.slice(0, 0, 1)).backward();
  optimizer.step();
})",
              .good = R"(for (auto& batch : *loader) {
  criterion(model->forward(batch.data), batch.target).backward();
  optimizer.step();
})"},
      .sources = {"own reasoning"},
      .covers = {"lost-batch-dimension"},
      .explains = {},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kUsed,
      .settings = {kSteps},
      .judgement = Reads<&Judge>(),
      .examples = {{"a row for each sample", Expect::kClean,
                    [] { return WithBatches({.used = 32}); }},
                   {"one row for 32 samples", Expect::kWarning,
                    [] { return WithBatches({.used = 1, .counted = 1}); }},
                   {"one row that holds 32 targets", Expect::kClean,
                    [] { return WithBatches({.used = 1}); }},
                   {"samples one by one", Expect::kClean,
                    [] { return WithBatches({.fetched = 2, .used = 1, .counted = 1, .uses = 2}); }},
                   {"one row, with an evaluation after every fourth step", Expect::kWarning,
                    [] { return WithBatches({.used = 1, .counted = 1, .others_each = 4}); }},
                   {"batches of one", Expect::kClean,
                    [] { return WithBatches({.fetched = 1, .used = 1, .counted = 1}); }}},
  };
}

}  // namespace dlcheck::data
