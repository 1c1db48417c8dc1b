// Parts of the C++ probe by themselves: its clock, and its look at gradients that nobody cleared.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <torch/torch.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "checks/observe/probe/probe_calls.h"
#include "checks/observe/probe/probe_clock.h"
#include "checks/observe/probe/probe_optimizer.h"
#include "checks/observe/probe/probe_rule.h"
#include "checks/records/record_reader.h"

namespace dlcheck {
namespace {

using torch::Tensor;

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

// How many records say how far a step of Adam that moves nothing is from the rule.
int64_t ComparedSteps(double gradient) {
  Watched watched;
  {
    ProbeClock clock(watched.request, watched.NewWriter());
    const Tensor weight = torch::ones({4}).requires_grad_();
    weight.mutable_grad() = torch::full({4}, gradient);
    Probe::Rule rule;
    rule.name = "adam";
    rule.state = [](const std::string& field, const Tensor& of) {
      return field == "steps" ? torch::ones({}) : torch::zeros_like(of);
    };
    const torch::NoGradGuard no_grad;
    UpdateCheck check(clock, rule, 0);
    check.Before({{weight, 0, 0.1, 0}});
    check.After();
    clock.Finish();
  }
  return std::ranges::count_if(watched.Records(), [](const Record& record) {
    return record.kind == Kind::kQuantity &&
           record.number == static_cast<uint16_t>(Quantity::kUpdateError);
  });
}

TEST(UpdateCheck, LeavesOutAGradientWhoseSquareOverflows) {
  EXPECT_EQ(ComparedSteps(1), 1);
  EXPECT_EQ(ComparedSteps(1e25), 0);
}

TEST(Collectives, AreOperatorsOfTorchDistributed) {
  EXPECT_TRUE(IsCollective("c10d::allreduce_"));
  EXPECT_FALSE(IsCollective("aten::add"));
  EXPECT_FALSE(IsCollective("c10"));
}

}  // namespace
}  // namespace dlcheck
