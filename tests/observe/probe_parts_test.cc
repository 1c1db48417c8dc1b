// Parts of the C++ probe by themselves: its rules of optimizers against those of LibTorch, its
// clock, and its look at gradients that nobody cleared.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <torch/torch.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "checks/observe/probe/probe_calls.h"
#include "checks/observe/probe/probe_clock.h"
#include "checks/observe/probe/probe_optimizer.h"
#include "checks/observe/probe/update_rules.h"
#include "checks/records/record_reader.h"

namespace dlcheck {
namespace {

using torch::Tensor;

Tensor Wide(const Tensor& tensor) {
  return tensor.defined() ? tensor.detach().to(torch::kDouble, false, true) : tensor;
}

// What LibTorch keeps of the one weight of an optimizer, as the rules name it.
void TakeState(torch::optim::Optimizer& optimizer, const Tensor& weight, BeforeStep& before) {
  const auto found = optimizer.state().find(weight.unsafeGetTensorImpl());
  if (found == optimizer.state().end()) return;
  torch::optim::OptimizerParamState* const state = found->second.get();
  if (const auto* sgd = dynamic_cast<torch::optim::SGDParamState*>(state)) {
    before.momentum = Wide(sgd->momentum_buffer());
  } else if (const auto* adam = dynamic_cast<torch::optim::AdamParamState*>(state)) {
    before.first = Wide(adam->exp_avg());
    before.second = Wide(adam->exp_avg_sq());
    before.steps = static_cast<double>(adam->step());
  } else if (const auto* adam_w = dynamic_cast<torch::optim::AdamWParamState*>(state)) {
    before.first = Wide(adam_w->exp_avg());
    before.second = Wide(adam_w->exp_avg_sq());
    before.steps = static_cast<double>(adam_w->step());
  } else if (const auto* rms = dynamic_cast<torch::optim::RMSpropParamState*>(state)) {
    before.first = Wide(rms->grad_avg());
    before.second = Wide(rms->square_avg());
    before.momentum = Wide(rms->momentum_buffer());
    before.steps = static_cast<double>(rms->step());
  } else if (const auto* adagrad = dynamic_cast<torch::optim::AdagradParamState*>(state)) {
    before.second = Wide(adagrad->sum());
    before.steps = static_cast<double>(adagrad->step());
  }
}

// Takes some steps in float64, and gives the largest difference of the last three from the rule.
double ErrorOf(const Probe::Rule& rule, double rate, double weight_decay, const Tensor& weight,
               torch::optim::Optimizer& optimizer) {
  double error = 0;
  for (int step = 0; step < 6; ++step) {
    weight.mutable_grad() = torch::randn({8}, torch::kDouble);
    BeforeStep before;
    before.rate = rate;
    before.weight_decay = weight_decay;
    before.weight = Wide(weight);
    before.gradient = Wide(weight.grad());
    TakeState(optimizer, weight, before);
    optimizer.step();
    if (step < 3) continue;
    const Tensor change = ChangeOf(rule, before);
    if (!change.defined()) return -1;
    error = std::max(error, (weight.detach() - before.weight - change).abs().max().item<double>());
  }
  return error;
}

Tensor Weight() {
  torch::manual_seed(1);
  return torch::randn({8}, torch::kDouble).requires_grad_();
}

constexpr double kRounding = 1e-12;

TEST(UpdateRules, OfSgdAreThoseOfLibTorch) {
  for (const double momentum : {0.0, 0.9}) {
    for (const bool nesterov : {false, true}) {
      if (nesterov && momentum == 0) continue;
      const Tensor weight = Weight();
      torch::optim::SGD sgd(
          {weight},
          torch::optim::SGDOptions(0.1).momentum(momentum).nesterov(nesterov).weight_decay(0.01));
      Probe::Rule rule;
      rule.name = "sgd";
      rule.momentum = momentum;
      rule.nesterov = nesterov;
      EXPECT_NEAR(ErrorOf(rule, 0.1, 0.01, weight, sgd), 0, kRounding) << momentum;
    }
  }
}

TEST(UpdateRules, OfAdamAndAdamWAreThoseOfLibTorch) {
  Probe::Rule rule;
  rule.name = "adam";
  const Tensor weight = Weight(), other = Weight();
  torch::optim::Adam adam({weight}, torch::optim::AdamOptions(0.1).weight_decay(0.01));
  EXPECT_NEAR(ErrorOf(rule, 0.1, 0.01, weight, adam), 0, kRounding);
  rule.name = "adamw";
  torch::optim::AdamW adam_w({other}, torch::optim::AdamWOptions(0.1).weight_decay(0.01));
  EXPECT_NEAR(ErrorOf(rule, 0.1, 0.01, other, adam_w), 0, kRounding);
}

TEST(UpdateRules, OfRmspropAreThoseOfLibTorch) {
  for (const double momentum : {0.0, 0.9}) {
    for (const bool centered : {false, true}) {
      const Tensor weight = Weight();
      torch::optim::RMSprop rms(
          {weight},
          torch::optim::RMSpropOptions(0.01).momentum(momentum).centered(centered).weight_decay(
              0.01));
      Probe::Rule rule;
      rule.name = "rmsprop";
      rule.momentum = momentum;
      rule.centered = centered;
      EXPECT_NEAR(ErrorOf(rule, 0.01, 0.01, weight, rms), 0, kRounding) << momentum << centered;
    }
  }
}

TEST(UpdateRules, OfAdagradAreThoseOfLibTorch) {
  const Tensor weight = Weight();
  torch::optim::Adagrad adagrad({weight},
                                torch::optim::AdagradOptions(0.1).lr_decay(0.01).eps(1e-8));
  Probe::Rule rule;
  rule.name = "adagrad";
  rule.lr_decay = 0.01;
  EXPECT_NEAR(ErrorOf(rule, 0.1, 0, weight, adagrad), 0, kRounding);
}

TEST(UpdateRules, NeedTheStateThatTheyReadAndAKnownName) {
  Probe::Rule rule;
  BeforeStep before;
  before.weight = before.gradient = torch::ones({2}, torch::kDouble);
  rule.momentum = 0.9;
  for (const char* name : {"sgd", "adam", "adamw", "rmsprop", "adagrad", "nadam", "other"}) {
    rule.name = name;
    EXPECT_FALSE(ChangeOf(rule, before).defined()) << name;
  }
}

// A step of one weight: what the look at its gradient finds.
class ClearingOfOne {
 public:
  ClearingOfOne() { weight_.mutable_grad() = torch::ones({4}); }
  Tensor& gradient() { return weight_.mutable_grad(); }
  void Backward(double adds) {
    clearing_.BeforeBackward();
    if (!gradient().defined()) gradient() = torch::zeros({4});
    gradient().add_(adds);
  }
  int Step() {
    torch::NoGradGuard no_grad;
    return clearing_.Consumed({weight_}, Norms({weight_.grad()}));
  }

 private:
  Tensor weight_ = torch::ones({4}).requires_grad_();
  Clearing clearing_;
};

TEST(Clearing, FindsAGradientThatStayed) {
  ClearingOfOne one;
  EXPECT_EQ(one.Step(), 0);
  one.Backward(1);
  EXPECT_EQ(one.Step(), 1);
  one.Backward(1);
  one.Backward(1);  // of another loss
  EXPECT_EQ(one.Step(), 1);
}

TEST(Clearing, FindsNothingWhereGradientsAreSetToZeroOrToNone) {
  ClearingOfOne one;
  one.Step();
  one.gradient().zero_();
  one.Backward(1);
  EXPECT_EQ(one.Step(), 0);
  one.gradient() = Tensor();
  one.Backward(1);
  EXPECT_EQ(one.Step(), 0);
}

TEST(Clearing, FindsNothingWhereAGradientIsClearedAfterAnotherBackward) {
  ClearingOfOne one;
  one.Step();
  one.Backward(1);
  one.gradient() = Tensor();
  one.Backward(1);
  EXPECT_EQ(one.Step(), 0);
}

// A run that one process records. Without std::filesystem, of which LibTorch has an older copy.
struct Watched {
  Watched() {
    std::string pattern = testing::TempDir() + "dlcheck-test-XXXXXX";
    folder = mkdtemp(pattern.data());
  }
  ~Watched() {
    for (const char* name : {"/records/7-0.records", "/records/7-0.names", "/records", ""}) {
      std::remove((folder + name).c_str());
    }
  }
  std::string folder;
  Request request;
  std::unique_ptr<TraceWriter> NewWriter() {
    auto writer = TraceWriter::Create({.run_folder = folder, .process = 7});
    return std::move(*writer);
  }
  std::vector<Record> Records() const {
    std::vector<Record> records;
    auto reader = RecordReader::Open(folder + "/records/7-0.records");
    Record record;
    while (reader.ok() && *reader->Next(record)) records.push_back(record);
    return records;
  }
};

bool IsOf(const Record& record, Kind kind, Event event) {
  return record.kind == kind && record.number == static_cast<uint16_t>(event);
}

TEST(ProbeClock, WritesEventsOfSampledStepsAndCountsTheRest) {
  Watched watched;
  {
    ProbeClock clock(watched.request, watched.NewWriter());
    for (int step = 0; step < 200; ++step) {
      clock.Put(Event::kStep, {});
      clock.EndStep();
    }
    EXPECT_EQ(clock.step(), 200);
    clock.Finish();
  }
  int64_t events = 0;
  double in_gaps = 0;
  for (const Record& record : watched.Records()) {
    if (IsOf(record, Kind::kEvent, Event::kStep)) {
      ++events;
      EXPECT_TRUE(IsSampled(record.step));
    }
    if (IsOf(record, Kind::kGap, Event::kStep)) in_gaps += record.value;
  }
  EXPECT_LT(events, 200);
  EXPECT_EQ(static_cast<double>(events) + in_gaps, 200);
}

TEST(ProbeClock, RecordsWholeStepsThatAreAskedForAndThoseAfterASave) {
  Watched watched;
  watched.request.whole_first = 70;
  watched.request.whole_last = 71;
  watched.request.saved_step = 1100;
  ProbeClock clock(watched.request, watched.NewWriter());
  std::vector<int64_t> sampled;
  for (; clock.step() < 1103; clock.EndStep()) {
    if (clock.sampled() && !IsSampled(clock.step())) sampled.push_back(clock.step());
  }
  EXPECT_EQ(sampled, (std::vector<int64_t>{70, 71, 1100, 1101, 1102}));
  clock.Finish();
}

TEST(ProbeClock, EndsTheProcessAfterTheStepsThatWereAskedFor) {
  Watched watched;
  watched.request.steps = 3;
  const pid_t child = fork();
  if (child == 0) {
    ProbeClock clock(watched.request, watched.NewWriter());
    for (int step = 0; step < 3; ++step) clock.EndStep();
    _exit(7);  // it went on
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  const std::vector<Record> records = watched.Records();
  ASSERT_FALSE(records.empty());
  EXPECT_TRUE(IsOf(records.back(), Kind::kEvent, Event::kStopped));
  EXPECT_EQ(records.back().step, 3);
}

TEST(ProbeClock, WritesSoManyForwardsOfAnEvaluation) {
  Watched watched;
  ProbeClock clock(watched.request, watched.NewWriter());
  clock.BeginEvaluation();
  for (int64_t batch = 0; batch < kMostEvaluationBatches + 5; ++batch) {
    clock.PutOfEvaluation(Event::kEvaluationForward, {});
  }
  clock.Finish();
  int64_t written = 0;
  double in_gaps = 0;
  for (const Record& record : watched.Records()) {
    written += IsOf(record, Kind::kEvent, Event::kEvaluationForward) ? 1 : 0;
    if (IsOf(record, Kind::kGap, Event::kEvaluationForward)) in_gaps += record.value;
  }
  EXPECT_EQ(written, kMostEvaluationBatches);
  EXPECT_EQ(in_gaps, 5);
}

TEST(Collectives, AreOperatorsOfTorchDistributed) {
  EXPECT_TRUE(IsCollective("c10d::allreduce_"));
  EXPECT_FALSE(IsCollective("aten::add"));
  EXPECT_FALSE(IsCollective("c10"));
}

}  // namespace
}  // namespace dlcheck
