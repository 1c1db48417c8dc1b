// A program's losses beside those of baseline models on its own batches.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "reference/baseline/capture.h"
#include "reference/baseline/comparison.h"
#include "reference/baseline/ladder.h"
#include "reference/recipe/rejection.h"

namespace dlcheck::reference {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Kind = Verdict::Kind;

constexpr double kConstant = 2.3;

// Losses that fall to `end`, with noise that all programs of the same batches share.
std::vector<double> Falling(double end, double shift = 0) {
  std::vector<double> losses;
  for (int step = 0; step < 300; ++step) {
    const double noise = 0.02 * std::sin(7.0 * step) + shift * std::sin(3.0 * step);
    losses.push_back(end + (kConstant - end) * std::exp(-step / 30.0) + noise);
  }
  return losses;
}

BaselineLosses BaselineAt(const std::string& name, double end) {
  return {name, {Falling(end, 0.01), Falling(end, -0.01), Falling(end, 0.02)}};
}

Kind KindOf(const std::vector<double>& losses, const std::vector<BaselineLosses>& baselines) {
  return Compare(losses, kConstant, baselines).kind;
}

TEST(Comparison, CallsAProgramThatStaysAtTheConstantUseless) {
  EXPECT_EQ(KindOf(Falling(2.3), {BaselineAt("linear", 0.3)}), Kind::kNotBetterThanConstant);
  EXPECT_EQ(KindOf(std::vector<double>(300, NAN), {BaselineAt("linear", 0.3)}),
            Kind::kNotBetterThanConstant);
}

TEST(Comparison, SaysOfDataWhereNoBaselineLearnsEither) {
  EXPECT_EQ(KindOf(Falling(2.5), {BaselineAt("linear", 2.31)}), Kind::kNobodyLearns);
  EXPECT_EQ(KindOf(Falling(2.0), {BaselineAt("linear", 2.31)}), Kind::kAsGood);
}

TEST(Comparison, WarnsWhereThePlainestBaselineLearnsMore) {
  const Verdict verdict = Compare(Falling(1.5), kConstant, {BaselineAt("linear", 0.3)});
  EXPECT_EQ(verdict.kind, Kind::kNotBetterThanLinear);
  EXPECT_EQ(verdict.baseline, "linear");
}

TEST(Comparison, NotesTheBaselineThatIsFurthestAhead) {
  const Verdict verdict =
      Compare(Falling(0.9), kConstant,
              {BaselineAt("linear", 0.95), BaselineAt("mlp", 0.4), BaselineAt("x", 0.1)});
  EXPECT_EQ(verdict.kind, Kind::kWeaker);
  EXPECT_EQ(verdict.baseline, "x");
}

TEST(Comparison, IsSilentWithinTheSpreadAndAboveFourFifthsOfWhatWasLearned) {
  EXPECT_EQ(KindOf(Falling(0.3), {BaselineAt("linear", 0.3)}), Kind::kAsGood);
  EXPECT_EQ(KindOf(Falling(0.4), {BaselineAt("linear", 0.3)}), Kind::kAsGood);
  BaselineLosses uneven = BaselineAt("mlp", 0.1);
  uneven.losses[1] = Falling(1.8);  // one seed is not ahead
  EXPECT_EQ(KindOf(Falling(0.9), {BaselineAt("linear", 0.95), uneven}), Kind::kAsGood);
  BaselineLosses diverged = {"mlp", {std::vector<double>(300, NAN)}};
  EXPECT_EQ(KindOf(Falling(0.9), {BaselineAt("linear", 0.95), diverged}), Kind::kAsGood);
}

TEST(Comparison, PassesAProgramThatStillFallsFastEnoughToCatchUp) {
  const auto line = [](double per_step) {
    std::vector<double> losses;
    for (int step = 0; step < 300; ++step) losses.push_back(kConstant - per_step * step);
    return losses;
  };
  const BaselineLosses linear = BaselineAt("linear", 0.3);
  EXPECT_EQ(KindOf(line(1.2 / 300), {linear}), Kind::kStillLearning);  // falls by 1.2 in 300 steps
  EXPECT_EQ(KindOf(line(0.8 / 300), {linear}), Kind::kNotBetterThanLinear);
}

TEST(Comparison, BlamesTheOptimizerIfItKeepsABaselineFromLearning) {
  const BaselineLosses baseline = BaselineAt("mlp", 0.2);
  EXPECT_EQ(WeakHalf(kConstant, baseline, BaselineAt("mlp", 1.9)), Weak::kOptimizer);
  EXPECT_EQ(WeakHalf(kConstant, baseline, BaselineAt("mlp", 0.3)), Weak::kModel);
  EXPECT_EQ(WeakHalf(kConstant, baseline, {"mlp", {std::vector<double>(300, NAN)}}),
            Weak::kOptimizer);
}

TEST(Comparison, TakesTheLastTenthOrTenSteps) {
  std::vector<double> losses(200, 1);
  std::fill(losses.end() - 20, losses.end(), 0.5);
  EXPECT_DOUBLE_EQ(LateLoss(losses), 0.5);
  EXPECT_DOUBLE_EQ(LateLoss({4, 2}), 3);
}

// A capture as the probe writes it.
class Written {
 public:
  Written() : path_(testing::TempDir() + "/capture-1.batches"), file_(path_, std::ios::binary) {
    file_ << "dlcheck capture 1\n";
  }
  Written& Batch(int64_t step, double loss, const torch::Tensor& x, const torch::Tensor& y,
                 const std::string& dropout = "0.0", bool has_terms = false) {
    file_ << "{\"step\": " << step << ", \"classes\": 3, \"class_weights\": false, "
          << "\"further_terms\": " << (has_terms ? "true" : "false") << ", \"dropout\": " << dropout
          << ", \"loss\": " << loss << ", \"x\": " << Described(x) << ", \"y\": " << Described(y)
          << "}\n";
    for (const torch::Tensor& tensor : {x, y}) {
      file_.write(static_cast<const char*>(tensor.data_ptr()),
                  static_cast<std::streamsize>(tensor.nbytes()));
    }
    return *this;
  }
  Written& Text(const std::string& text) {
    file_ << text;
    return *this;
  }
  const std::string& path() {
    file_.flush();
    return path_;
  }

 private:
  static std::string Described(const torch::Tensor& tensor) {
    std::string shape;
    for (const int64_t extent : tensor.sizes()) {
      shape += (shape.empty() ? "" : ", ") + std::to_string(extent);
    }
    const std::string type = tensor.scalar_type() == at::kLong ? "int64" : "float32";
    return "{\"dtype\": \"" + type + "\", \"shape\": [" + shape + "]}";
  }
  std::string path_;
  std::ofstream file_;
};

std::string RefusalOf(Written& written) {
  try {
    ReadCapture(written.path());
  } catch (const InputRejected& rejection) {
    return rejection.what();
  }
  return "accepted";
}

const torch::Tensor kX = torch::arange(8, torch::kFloat).view({2, 4});
const torch::Tensor kY = torch::tensor({0, 2}, torch::kLong);

TEST(Capture, HoldsABatchForEachStepWithTheMeanOfItsLosses) {
  Written written;
  written.Batch(0, 1.5, kX, kY).Batch(1, 1, kX, kY).Batch(1, 2, kX, kY, "0.5");
  const Capture capture = ReadCapture(written.path());
  ASSERT_EQ(capture.batches.size(), 2U);
  EXPECT_THAT(capture.losses, ElementsAre(1.5, 1.5));
  EXPECT_EQ(capture.batches[1].x.size(0), 4);
  // Standardized by feature: the rows stand twice for once, at the same distance from the mean.
  EXPECT_TRUE(torch::allclose(capture.batches[0].x[1], torch::ones({4})));
  EXPECT_EQ(capture.classes, 3);
  EXPECT_THAT(capture.sample_shape, ElementsAre(4));
  EXPECT_TRUE(capture.has_dropout);
  EXPECT_FALSE(capture.has_tokens);
}

TEST(Capture, OfTokensHasATargetForEachHoweverTheyAreShaped) {
  Written written;
  const torch::Tensor tokens = torch::tensor({0, 1, 2, 1, 0, 2}, torch::kLong);
  written.Batch(0, 1, tokens.view({2, 3}), tokens);
  const Capture capture = ReadCapture(written.path());
  EXPECT_TRUE(capture.has_tokens);
  EXPECT_EQ(capture.batches[0].y.sizes(), at::IntArrayRef({2, 3}));
}

TEST(Capture, OfTokensHasAsManyClassesAsThereAreTokens) {
  Written written;
  const torch::Tensor tokens = torch::tensor({0, 7, 2, 1}, torch::kLong).view({2, 2});
  written.Batch(0, 1, tokens, torch::zeros({2, 2}, torch::kLong));
  EXPECT_EQ(ReadCapture(written.path()).classes, 8);
}

TEST(Capture, HasALossThatIsNotFiniteAsNoNumber) {
  Written written;
  written.Batch(0, 1, kX, kY)
      .Text(
          "{\"step\": 1, \"classes\": 3, \"class_weights\": false, \"further_terms\": false, "
          "\"dropout\": 0, \"loss\": null, "
          "\"x\": {\"dtype\": \"float32\", \"shape\": [0, 4]}, "
          "\"y\": {\"dtype\": \"int64\", \"shape\": [0]}}\n");
  EXPECT_TRUE(std::isnan(ReadCapture(written.path()).losses[1]));
}

TEST(Capture, OfTokensMayHaveSequencesOfAnotherLengthInAnotherStep) {
  Written written;
  const torch::Tensor shorter = torch::zeros({2, 3}, torch::kLong);
  const torch::Tensor longer = torch::zeros({2, 5}, torch::kLong);
  written.Batch(0, 1, shorter, shorter).Batch(1, 1, longer, longer);
  EXPECT_THAT(ReadCapture(written.path()).sample_shape, ElementsAre(5));
  written.Batch(1, 1, shorter, shorter);
  EXPECT_THAT(RefusalOf(written), HasSubstr("samples of one step have several shapes"));
}

TEST(Capture, ThatIsCutOffHasTheBatchesBeforeIt) {
  Written written;
  written.Batch(0, 1, kX, kY).Text("{\"step\": 1, \"clas");
  EXPECT_EQ(ReadCapture(written.path()).batches.size(), 1U);
  Written other;
  other.Batch(0, 1, kX, kY)
      .Text(
          "{\"step\": 1, \"classes\": 3, \"dropout\": 0, \"loss\": 1, "
          "\"x\": {\"dtype\": \"float32\", \"shape\": [2, 4]}, "
          "\"y\": {\"dtype\": \"int64\", \"shape\": [2]}}\nabc");
  EXPECT_EQ(ReadCapture(other.path()).batches.size(), 1U);
}

TEST(Capture, KnowsThatOneOfItsLossesIsNotAllThatIsMinimized) {
  Written written;
  const torch::Tensor x = torch::zeros({2, 5}), y = torch::zeros({2}, at::kLong);
  written.Batch(0, 1, x, y).Batch(1, 1, x, y);
  EXPECT_FALSE(ReadCapture(written.path()).has_further_terms);
  written.Batch(2, 1, x, y, "0.0", /*has_terms=*/true);
  EXPECT_TRUE(ReadCapture(written.path()).has_further_terms);
}

TEST(Capture, SaysWhyItEndsEarly) {
  Written written;
  written.Batch(0, 1, kX, kY).Text("{\"ended\": \"1024 MiB are the most\"}\n");
  EXPECT_EQ(ReadCapture(written.path()).ended, "1024 MiB are the most");
}

TEST(Capture, IsRefusedWithTheCause) {
  Written empty;
  EXPECT_THAT(RefusalOf(empty), HasSubstr("it holds no batch"));
  Written wild;
  wild.Text("{\"step\": }\n").Text("more\n");
  EXPECT_THAT(RefusalOf(wild), HasSubstr("capture-1.batches"));
  Written mixed;
  mixed.Batch(0, 1, kX, kY).Batch(1, 1, kX, torch::ones({2}));
  EXPECT_THAT(RefusalOf(mixed), HasSubstr("batches are of several kinds"));
  Written beyond;
  beyond.Batch(0, 1, kX, torch::tensor({0, 3}, torch::kLong));
  EXPECT_THAT(RefusalOf(beyond), HasSubstr("out of the range of its 3 classes"));
  Written ignored;
  ignored.Batch(0, 1, kX, torch::tensor({-100, 2}, torch::kLong));
  EXPECT_EQ(RefusalOf(ignored), "accepted");
  Written pixels;
  pixels.Batch(0, 1, kX, torch::zeros({2, 4}, torch::kLong));
  EXPECT_THAT(RefusalOf(pixels), HasSubstr("no reference takes these"));
  Written shapes;
  shapes.Batch(0, 1, kX, kY).Batch(1, 1, torch::ones({2, 5}), kY);
  EXPECT_THAT(RefusalOf(shapes), HasSubstr("samples have several shapes"));
  Written huge;
  huge.Batch(0, 1, kX, kY)
      .Text(
          "{\"step\": 1, \"classes\": 3, \"dropout\": 0, \"loss\": 1, "
          "\"x\": {\"dtype\": \"float32\", \"shape\": [9000000000, 9000000000]}, \"y\": 0}\n");
  EXPECT_THAT(RefusalOf(huge), HasSubstr("a shape that cannot be"));
  const std::string path = testing::TempDir() + "/other.batches";
  std::ofstream(path) << "something else";
  EXPECT_THROW(ReadCapture(path), InputRejected);
}

TEST(Capture, OfNumbersIsInUnitsOfTheirVariance) {
  Written written;
  const torch::Tensor y = torch::tensor({10.F, 30.F});
  written.Batch(0, 50, kX, y);
  const Capture capture = ReadCapture(written.path());
  EXPECT_TRUE(capture.has_numbers);
  EXPECT_TRUE(torch::allclose(capture.batches[0].y, torch::tensor({{-1.F}, {1.F}})));
  EXPECT_DOUBLE_EQ(capture.losses[0], 0.5);
  EXPECT_DOUBLE_EQ(LossOfConstant(capture), 1);
}

// Classes that a line parts, so that each baseline learns them.
Capture Separable() {
  Capture capture;
  torch::manual_seed(3);
  for (int step = 0; step < 60; ++step) {
    const torch::Tensor x = torch::randn({32, 6});
    capture.batches.push_back({x, x.slice(1, 0, 3).argmax(1)});
    capture.losses.push_back(1);
  }
  capture.sample_shape = {6};
  capture.classes = 3;
  return capture;
}

TEST(Ladder, TrainsEachBaselineModelOnTheBatchesOfTheCapture) {
  const Capture capture = Separable();
  const double constant = LossOfConstant(capture);
  EXPECT_NEAR(constant, std::log(3.0), 0.01);
  for (const BaselineModel& model : BaselineModels(capture)) {
    const Trained trained = Train(model, capture, [](const std::string&) {});
    ASSERT_EQ(trained.losses.size(), 3U) << model.name;
    for (const std::vector<double>& losses : trained.losses) {
      EXPECT_EQ(losses.size(), 60U);
      EXPECT_LT(LateLoss(losses), 0.6 * constant) << model.name;
    }
    EXPECT_THAT(model.rates, testing::Contains(trained.rate));
  }
}

TEST(Ladder, LearnsNumbers) {
  Capture capture = Separable();
  capture.has_numbers = true;
  capture.classes = 2;
  for (Batch& batch : capture.batches) {
    batch.y = torch::stack({batch.x.select(1, 0), batch.x.select(1, 1) - batch.x.select(1, 2)}, 1);
  }
  for (const BaselineModel& model : BaselineModels(capture)) {
    const Trained trained = Train(model, capture, [](const std::string&) {});
    EXPECT_LT(LateLoss(trained.losses.front()), 0.3 * LossOfConstant(capture)) << model.name;
  }
}

TEST(Ladder, TrainsABaselineUnderTheProgramsOwnOptimizerAndRates) {
  Capture capture = Separable();
  const BaselineModel linear = BaselineModels(capture).front();
  capture.optimizer.name = "SGD";
  capture.optimizer.rates.assign(60, 0.5);
  const std::optional<BaselineLosses> quick = TrainLike(linear, capture);
  ASSERT_TRUE(quick);
  capture.optimizer.rates.assign(60, 1e-6);
  const std::optional<BaselineLosses> slow = TrainLike(linear, capture);
  const double constant = LossOfConstant(capture);
  EXPECT_LT(LateLoss(quick->losses.front()), 0.7 * constant);
  EXPECT_GT(LateLoss(slow->losses.front()), 0.9 * constant);
  capture.optimizer.name = "Shampoo";
  EXPECT_FALSE(TrainLike(linear, capture));
}

TEST(Ladder, HasModelsOfTokensForTokens) {
  Capture capture;
  for (int step = 0; step < 30; ++step) {
    const torch::Tensor tokens = torch::arange(12).view({2, 6}) % 3;
    capture.batches.push_back({tokens, (tokens + 1) % 3});
    capture.losses.push_back(1);
  }
  capture.sample_shape = {6};
  capture.classes = 3;
  capture.has_tokens = true;
  const std::vector<BaselineModel> models = BaselineModels(capture);
  ASSERT_EQ(models.size(), 2U);
  const Trained trained = Train(models.front(), capture, [](const std::string&) {});
  EXPECT_LT(LateLoss(trained.losses.front()), 0.5 * LossOfConstant(capture));
}

}  // namespace
}  // namespace dlcheck::reference
