#include <algorithm>
#include <cmath>
#include <vector>

#include "checks/catalog/examples/overlap_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/engine/whole.h"
#include "checks/signals/data/data_overlap.h"

namespace dlcheck::data {
namespace {

constexpr Setting kLeast{.name = "least",
                         .value = 0.01,
                         .low = 0,
                         .high = 1,
                         .unit = "1",
                         .meaning = "share of an evaluation's rows that may come from training",
                         .source = "own reasoning: data repeat naturally"};

constexpr Setting kRows{.name = "rows",
                        .value = 64,
                        .low = 1,
                        .high = 1e9,
                        .unit = "rows",
                        .meaning = "fewest different rows of an evaluation that is judged",
                        .source = "own reasoning"};

constexpr Setting kKnown{.name = "known",
                         .value = 16,
                         .low = 1,
                         .high = 1e9,
                         .unit = "rows",
                         .meaning = "fewest trained rows in an evaluation for a finding",
                         .source = "own reasoning"};

// How many rows would be known if both data sets were drawn from one supply of rows. Of n rows
// drawn from m, about n^2 / 2m repeat; so r repetitions tell of m, and of n * training / m known
// rows. By chance r may be that much too low; at least three are assumed.
double Natural(const DataOverlap& overlap, const DataOverlap::Evaluation& evaluation) {
  const double repeated = evaluation.repeated + 3 * std::sqrt(evaluation.repeated);
  return 2 * std::max(3.0, repeated) * overlap.training_samples / std::max(1.0, evaluation.rows);
}

using Judged = std::vector<const DataOverlap::Evaluation*>;  // ascending by step

// Once all training data are known, the number stays constant, apart from samples that the first
// iteration skipped. A number that grows more comes from drawing with replacement or other data.
bool Stays(const Judged& judged, double left_out) {
  const DataOverlap::Evaluation& last = *judged.back();
  return judged[judged.size() - 2]->trained == last.trained &&
         std::ranges::all_of(judged, [&](const DataOverlap::Evaluation* evaluation) {
           const double growth = last.trained - evaluation->trained;
           return evaluation->different == last.different && growth >= 0 && growth <= left_out;
         });
}

absl::StatusOr<Verdict> Judge(const Settings& settings, const DataOverlap& overlap) {
  Judged judged;
  bool all = true;
  for (const DataOverlap::Evaluation& evaluation : overlap.evaluations) {
    if (evaluation.different < settings[kRows]) continue;
    if (evaluation.repeated >= settings[kLeast] * evaluation.rows) continue;
    judged.push_back(&evaluation);
    const double share = evaluation.trained / evaluation.different;
    all = all && share > settings[kLeast] && share < 0.99 && evaluation.trained >= settings[kKnown];
  }
  if (judged.size() < 2) {
    return absl::NotFoundError(
        "fewer than two evaluations of one loader came after all training data were seen");
  }
  std::ranges::stable_sort(judged, {}, &DataOverlap::Evaluation::step);
  const std::string count = Counted(static_cast<int64_t>(judged.size()), "evaluation");
  Verdict verdict{.findings = {}, .judged = count};
  if (!all || !Stays(judged, overlap.left_out)) return verdict;
  const DataOverlap::Evaluation* last = judged.back();
  verdict.findings.push_back(
      {.severity = last->trained > Natural(overlap, *last) ? Severity::kWarning : Severity::kNote,
       .message = StrCat(
           WithCommas(Whole(last->trained)), " of ", WithCommas(Whole(last->different)),
           " different rows of ", last->loader, " (", Short(100 * last->trained / last->different),
           " %) had been trained on before the last of ", count, ", at step ", last->step, "."),
       .places = {{.thing = last->loader, .file = ""}},
       .first_step = overlap.evaluations.front().step,
       .last_step = overlap.evaluations.back().step,
       .count = static_cast<int64_t>(judged.size()),
       .measured = last->trained / last->different,
       .bound = settings[kLeast]});
  return verdict;
}

}  // namespace

Check TrainEvalOverlap() {
  return {
      .id = "data/train_eval_overlap",
      .title = "Evaluation data were also trained on",
      .promise = "No training sample appears in the evaluation data.",
      .why = "The evaluation shows a better result than the model reaches on unseen data.",
      .method =
          "Compares digests of the rows that entered the model in training with the rows of each "
          "evaluation. Reports a loader if part of its rows are known in every evaluation.",
      .fix =
          "Split the data once, by index or by group, before any other processing. Drop duplicates "
          "before the split.",
      .limits = {.needs = "One model, one optimizer and one training loader, every batch of which "
                          "was in a sampled step. Two later evaluations of at least 64 different "
                          "rows that one other loader feeds.",
                 .silent_when = "All rows of the evaluation are known: this is an evaluation on "
                                "training data. Random augmentations hide an overlap.",
                 .severity =
                     "Warning. Note if natural repetitions in the data can explain the number.",
                 .blind_spots = "",
                 .sensitivity = ""},
      .python = {.bad = R"(train = dataset
test = Subset(dataset, range(0, 2000))  # also part of train
train_loader = DataLoader(train, batch_size=64, shuffle=True)
test_loader = DataLoader(test, batch_size=64))",
                 .good = R"(train, test = random_split(dataset, [len(dataset) - 2000, 2000])
train_loader = DataLoader(train, batch_size=64, shuffle=True)
test_loader = DataLoader(test, batch_size=64))"},
      .cpp = {.bad = R"(auto train = rows;
auto test = rows.slice(0, 0, 2000);  // also part of train)",
              .good = R"(auto train = rows.slice(0, 2000);
auto test = rows.slice(0, 0, 2000);)"},
      .sources = {"marin issue 2700", "own reasoning"},
      .covers = {"evaluation-data-in-training"},
      .explains = {},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kEvaluationForward,
      .also_at = {Event::kFetched},
      .settings = {kLeast, kRows, kKnown},
      .judgement = Reads<&Judge>(),
      .examples = {{"one row of 256 by chance", Expect::kClean,
                    [] {
                      return Overlapping({1, 1});
                    }},
                   {"a quarter of the rows are known", Expect::kWarning,
                    [] {
                      return Overlapping({64, 64});
                    }},
                   {"all rows are known", Expect::kClean,
                    [] {
                      return Overlapping({256, 256});
                    }},
                   {"a quarter, and a few more rows that the first epoch dropped", Expect::kWarning,
                    [] {
                      return Overlapping({60, 64, 64}, 260);
                    }},
                   {"more rows than the first epoch dropped", Expect::kClean,
                    [] {
                      return Overlapping({59, 64, 64}, 260);
                    }},
                   {"a number that still grows", Expect::kClean,
                    [] {
                      return Overlapping({62, 64}, 260);
                    }},
                   {"a quarter in one evaluation of two", Expect::kClean,
                    [] {
                      return Overlapping({64, 0});
                    }}},
  };
}

}  // namespace dlcheck::data
