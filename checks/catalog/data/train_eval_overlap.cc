#include <algorithm>
#include <vector>

#include "checks/catalog/overlap_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/engine/whole.h"
#include "checks/signals/data_overlap.h"

namespace dlcheck::data {
namespace {

constexpr Setting kLeast{.name = "least",
                         .value = 0.01,
                         .low = 0,
                         .high = 1,
                         .unit = "1",
                         .meaning = "share of an evaluation's rows that may be known",
                         .source = "own reasoning: natural repetitions"};

constexpr Setting kRows{.name = "rows",
                        .value = 64,
                        .low = 1,
                        .high = 1e9,
                        .unit = "rows",
                        .meaning = "different rows of the smallest evaluation that is judged",
                        .source = "own reasoning"};

constexpr Setting kKnown{.name = "known",
                         .value = 16,
                         .low = 1,
                         .high = 1e9,
                         .unit = "rows",
                         .meaning = "fewest rows trained on that a finding rests on",
                         .source = "own reasoning"};

// How many rows would be known if training data and these repeated each other as these repeat
// themselves, three being what may go unseen. Twice that is no contamination.
double Natural(const DataOverlap& overlap, const DataOverlap::Evaluation& evaluation) {
  return 2 * std::max(3.0, evaluation.repeated) * overlap.training_samples /
         std::max(1.0, evaluation.rows);
}

using Judged = std::vector<const DataOverlap::Evaluation*>;  // ascending by step

// Once all training data are known, the number stays, but for what the first iteration left out:
// another grows because data are drawn with replacement, or is of other data.
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
        "fewer than two evaluations of one loader came after all training data were looked at");
  }
  std::ranges::stable_sort(judged, {}, &DataOverlap::Evaluation::step);
  const std::string count = Counted(static_cast<int64_t>(judged.size()), "evaluation");
  Verdict verdict{.findings = {}, .judged = count};
  if (!all || !Stays(judged, overlap.left_out)) return verdict;
  const DataOverlap::Evaluation* last = judged.back();
  verdict.findings.push_back(
      {.severity = last->trained > Natural(overlap, *last) ? Severity::kWarning : Severity::kNote,
       .message = StrCat(WithCommas(Whole(last->trained)), " of ",
                         WithCommas(Whole(last->different)), " different rows of ",
                         last->loader, " (", Short(100 * last->trained / last->different),
                         " %) had been trained on by the last of ", count, ", before step ",
                         last->step, "."),
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
      .promise = "No part of the data that a model is evaluated on was trained on.",
      .why = "The evaluation is better than the model is on data it has not seen.",
      .method =
          "Digests of the rows that entered the model in training, against those of each "
          "evaluation: a part of the rows of one loader, always, is known.",
      .fix =
          "Split the data once, by index or by group, before anything else is done to them; drop "
          "duplicates before the split.",
      .limits =
          "Judged once every batch of the one training loader was in a sampled step, for one "
          "model and one optimizer, and evaluations that one other loader fed. All known is an "
          "evaluation of the training data. A note if natural repetitions can explain the number. "
          "Random augmentations hide an overlap.",
      .sources = {"marin issue 2700", "own reasoning"},
      .covers = {"D09"},
      .explains = {},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kEvaluationForward,
      .settings = {kLeast, kRows, kKnown},
      .judgement = Reads<&Judge>(),
      .examples = {{"one row of 256 by chance", Expect::kClean,
                    [] {
                      return Overlapping({1, 1});
                    }},
                   {"a quarter is known", Expect::kFaulty,
                    [] {
                      return Overlapping({64, 64});
                    }},
                   {"all are known", Expect::kClean,
                    [] {
                      return Overlapping({256, 256});
                    }},
                   {"a quarter, and a few more that the first epoch dropped", Expect::kFaulty,
                    [] {
                      return Overlapping({60, 64, 64}, 260);
                    }},
                   {"more than it dropped", Expect::kClean,
                    [] {
                      return Overlapping({59, 64, 64}, 260);
                    }},
                   {"still growing", Expect::kClean,
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
