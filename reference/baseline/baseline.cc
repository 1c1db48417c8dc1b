#include "reference/baseline/baseline.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "reference/baseline/capture.h"
#include "reference/baseline/comparison.h"
#include "reference/baseline/data_steps.h"
#include "reference/baseline/ladder.h"
#include "reference/recipe/rejection.h"

namespace dlcheck::reference {
namespace {

using Json = nlohmann::json;

std::string NameOf(Verdict::Kind kind) {
  switch (kind) {
    case Verdict::Kind::kNotBetterThanConstant:
      return "not better than a constant";
    case Verdict::Kind::kNobodyLearns:
      return "no model learns";
    case Verdict::Kind::kNotBetterThanLinear:
      return "not better than the plainest baseline";
    case Verdict::Kind::kWeaker:
      return "weaker";
    case Verdict::Kind::kStillLearning:
      return "still learning";
    case Verdict::Kind::kAsGood:
      return "as good";
    case Verdict::Kind::kOtherObjective:
      return "no verdict";
    case Verdict::Kind::kLearnable:
      return "learnable";
  }
  return "";
}

const char* SeverityOf(Verdict::Kind kind) {
  switch (kind) {
    case Verdict::Kind::kNotBetterThanConstant:
      return "error";
    case Verdict::Kind::kNobodyLearns:
    case Verdict::Kind::kNotBetterThanLinear:
      return "warning";
    case Verdict::Kind::kWeaker:
    case Verdict::Kind::kOtherObjective:
      return "note";
    case Verdict::Kind::kStillLearning:
    case Verdict::Kind::kAsGood:
    case Verdict::Kind::kLearnable:
      return "passed";
  }
  return "";
}

std::string Described(const Capture& capture) {
  std::string shape;
  for (const int64_t extent : capture.sample_shape) {
    shape += (shape.empty() ? "" : "x") + std::to_string(extent);
  }
  return std::to_string(capture.batches.size()) + " steps of " +
         (capture.has_tokens ? "token sequences of " + shape : "samples of " + shape) + ", " +
         (!capture.has_numbers   ? std::to_string(capture.classes) + " classes"
          : capture.classes == 1 ? "a number as target"
                                 : std::to_string(capture.classes) + " numbers as targets");
}

void PrintRow(const std::string& name, double late, const std::string& spread,
              const std::string& rate, const std::string& time) {
  std::printf("%-14s %10.4f  %-20s %8s %10s\n", name.c_str(), late, spread.c_str(), rate.c_str(),
              time.c_str());
}

std::string Shown(const char* format, double number) {
  char text[32];
  std::snprintf(text, sizeof(text), format, number);
  return text;
}

// Prints the baseline's row, and gives it as JSON.
Json Row(const Trained& trained) {
  std::vector<double> late;
  for (const std::vector<double>& losses : trained.losses) late.push_back(LateLoss(losses));
  std::sort(late.begin(), late.end());
  PrintRow(trained.name, late[late.size() / 2],
           Shown("%.4f", late.front()) + " to " + Shown("%.4f", late.back()),
           Shown("%g", trained.rate), Shown("%.2f", trained.milliseconds));
  return {{"name", trained.name},
          {"rate", trained.rate},
          {"milliseconds_a_step", trained.milliseconds},
          {"late_loss", late},
          {"losses", trained.losses}};
}

// Baselines minimize the plain loss: a program that minimizes another one is not weak where it is
// behind in this one.
Verdict Judge(const Capture& capture, double constant,
              const std::vector<BaselineLosses>& baselines) {
  if (capture.losses.empty()) return CompareAlone(constant, baselines);
  const Verdict verdict = Compare(capture.losses, constant, baselines);
  const bool is_other = capture.has_class_weights || capture.has_further_terms;
  if (SeverityOf(verdict.kind) == std::string("passed") || !is_other) return verdict;
  return {Verdict::Kind::kOtherObjective,
          std::string("No verdict: the program ") +
              (capture.has_class_weights ? "gives its classes weights"
                                         : "minimizes further terms beside this loss") +
              ", and baselines minimize this loss alone.",
          std::nullopt};
}

// A sentence; empty where nothing is weak, or the trainer lacks the program's optimizer.
std::string WeakHalfOf(const Verdict& verdict, const Capture& capture, double constant,
                       const std::vector<BaselineLosses>& baselines) {
  if (SeverityOf(verdict.kind) == std::string("passed")) return "";
  if (verdict.kind == Verdict::Kind::kOtherObjective) return "";
  if (verdict.kind == Verdict::Kind::kNobodyLearns) return "Likely cause: the data.";
  // By the baseline that learned most: another one may be slow under any other optimizer than its
  // own.
  const std::vector<BaselineModel> models = BaselineModels(capture);
  size_t which = 0;
  for (size_t i = 1; i < baselines.size(); ++i) {
    if (MiddleLate(baselines[i]) < MiddleLate(baselines[which])) which = i;
  }
  const std::optional<BaselineLosses> like = TrainLike(models[which], capture);
  if (!like) return "";
  const std::string name = models[which].name;
  if (WeakHalf(constant, baselines[which], *like) == Weak::kOptimizer) {
    return "Likely cause: the optimizer. With the program's optimizer and learning rates, the "
           "baseline " +
           name + " learns no more either.";
  }
  return "Likely cause: the model, or the code between batch and loss. With the program's "
         "optimizer and learning rates, the baseline " +
         name + " still learns.";
}

std::vector<Trained> TrainAll(const Capture& capture) {
  std::vector<Trained> all;
  for (const BaselineModel& model : BaselineModels(capture)) {
    all.push_back(Train(model, capture, [](const std::string& line) {
      std::fprintf(stderr, "dlcheck-train: %s\n", line.c_str());
    }));
  }
  return all;
}

void Write(const std::string& path, const Json& json) {
  std::ofstream file(path);
  file << json.dump(1) << "\n";
  if (!file.flush()) throw UsageError("'" + path + "' cannot be written");
}

}  // namespace

int RunBaseline(const std::string& path, int64_t steps, const std::string& json) {
  const Capture capture = IsCapture(path) ? ReadCapture(path) : StepsOfData(path, steps);
  std::printf("%s\n", Described(capture).c_str());
  if (!capture.ended.empty()) std::printf("The capture ends early: %s\n", capture.ended.c_str());
  std::fflush(stdout);
  const double constant = LossOfConstant(capture);
  const std::vector<Trained> all = TrainAll(capture);
  std::vector<BaselineLosses> baselines;
  for (const Trained& trained : all) baselines.push_back({trained.name, trained.losses});
  std::printf("%-14s %10s  %-20s %8s %10s\n", "", "late loss", "over 3 seeds", "rate", "ms a step");
  PrintRow("constant", constant, "", "", "");
  Json rows = Json::array();
  for (const Trained& trained : all) rows.push_back(Row(trained));
  if (!capture.losses.empty()) {
    PrintRow("this program", LateLoss(capture.losses), "", "",
             std::isnan(capture.milliseconds) ? "" : Shown("%.2f", capture.milliseconds));
  }
  const Verdict verdict = Judge(capture, constant, baselines);
  std::printf("%s: %s\n", SeverityOf(verdict.kind), verdict.text.c_str());
  if (capture.has_dropout && SeverityOf(verdict.kind) != std::string("passed")) {
    std::printf(
        "The program has dropout, which raises its training loss; the baselines have none.\n");
  }
  const std::string weak = WeakHalfOf(verdict, capture, constant, baselines);
  if (!weak.empty()) std::printf("%s\n", weak.c_str());
  if (!json.empty()) {
    Write(json, {{"constant", constant},
                 {"losses", capture.losses},
                 {"milliseconds_a_step", capture.milliseconds},
                 {"baselines", rows},
                 {"severity", SeverityOf(verdict.kind)},
                 {"verdict", NameOf(verdict.kind)},
                 {"text", verdict.text},
                 {"weak", weak}});
  }
  const std::string severity = SeverityOf(verdict.kind);
  return severity == "passed" || severity == "note" ? 0 : 1;
}

}  // namespace dlcheck::reference
