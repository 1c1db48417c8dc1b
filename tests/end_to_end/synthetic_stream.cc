// Writes the records that a probe would write over a very long run of a small net, with three
// faults planted late: a NaN at an exact step, one missed clearing inside a gap, and gradients a
// thousand times too large for two gaps. Usage: synthetic_stream RUN_FOLDER STEPS [clean]
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <optional>
#include <string>

#include "checks/records/request.h"
#include "checks/records/sampling.h"
#include "checks/records/trace_writer.h"

namespace dlcheck {
namespace {

constexpr int kParameters = 20;
constexpr int64_t kMissedClearing = 155000;
constexpr int64_t kHugeFrom = 164000, kHugeTo = 196000;  // spans two gaps and the blocks between
constexpr int64_t kNan = 199123;

class Stream {
 public:
  Stream(TraceWriter& writer, bool faulty) : writer_(writer), faulty_(faulty) {
    for (int i = 0; i < kParameters; ++i) {
      parameters_[i] = writer.Thing("parameter", 0, "layer" + std::to_string(i) + ".weight");
      writer.Attribute(parameters_[i], "optimizer", "optimizer#0/group#0");
      writer.Attribute(parameters_[i], "requires_grad", "1");
      writer.Attribute(parameters_[i], "shape", "64x64");
      writer.Attribute(parameters_[i], "elements", "4096");
      writer.Attribute(parameters_[i], "module", "layer" + std::to_string(i));
      modules_[i] = writer.Thing("module", 0, "layer" + std::to_string(i));
    }
    loss_ = writer.Thing("loss", 0, "cross_entropy");
    group_ = writer.Thing("group", 0, "optimizer#0/group#0");
    optimizer_ = writer.Thing("optimizer", 0, "optimizer#0");
    Event(Event::kSeeded, 0, 7);
  }

  void Step(int64_t step) {
    step_ = step;
    const bool nan = faulty_ && step == kNan;
    const double loss = 0.5 + 1.8 * std::exp(-static_cast<double>(step) / 20000);
    Quantity(Quantity::kLoss, loss_, nan ? std::numeric_limits<double>::quiet_NaN() : loss, 64);
    Quantity(Quantity::kLearningRate, group_, 1e-3, 0);
    if (!IsSampled(step)) {
      if (gap_steps_ == 0) gap_first_ = step;
      ++gap_steps_;
      if (faulty_ && step == kMissedClearing) ++gap_uncleared_;
      if (nan) Gradients(step);  // a step that is not finite is recorded in full
      return;
    }
    CloseGap();
    Event(Event::kCleared, optimizer_, 0);
    for (const uint32_t module : modules_) Event(Event::kForward, module, 1);
    Event(Event::kBackward, loss_, 0);
    Gradients(step);
    Event(Event::kStep, optimizer_, 0);
  }

  void CloseGap() {
    if (gap_steps_ == 0) return;
    const int64_t last = gap_first_ + gap_steps_ - 1;
    const auto put = [&](dlcheck::Event event, int64_t count) {
      if (count > 0) writer_.PutGap(event, gap_first_, last, static_cast<double>(count), Record{});
    };
    put(Event::kBackward, gap_steps_);
    put(Event::kCleared, gap_steps_ - gap_uncleared_);
    put(Event::kUncleared, gap_uncleared_);
    put(Event::kStep, gap_steps_);
    gap_steps_ = gap_uncleared_ = 0;
  }

 private:
  void Event(dlcheck::Event event, uint32_t thing, double value) {
    writer_.PutEvent(event, Fields(thing, value, 0));
  }
  void Quantity(dlcheck::Quantity quantity, uint32_t thing, double value, double aux) {
    writer_.PutQuantity(quantity, Fields(thing, value, aux));
  }
  Record Fields(uint32_t thing, double value, double aux) const {
    Record record{};
    record.step = step_;
    record.thing = thing;
    record.value = value;
    record.aux = aux;
    return record;
  }
  void Gradients(int64_t step) {
    const double factor = faulty_ && step >= kHugeFrom && step < kHugeTo ? 1000 : 1;
    for (int i = 0; i < kParameters; ++i) {
      // A little noise, a pure function of step and parameter.
      const double noise = 1 + 0.3 * std::sin(static_cast<double>(step * 31 + i * 17));
      const bool nan = faulty_ && step == kNan;
      Quantity(Quantity::kGradientNorm, parameters_[i],
               nan ? std::numeric_limits<double>::quiet_NaN() : 0.1 * noise * factor,
               nan ? 4096 : 0);
      Quantity(Quantity::kWeightNorm, parameters_[i], 8, 0);
    }
  }

  TraceWriter& writer_;
  bool faulty_;
  uint32_t parameters_[kParameters], modules_[kParameters], loss_, group_, optimizer_;
  int64_t step_ = 0, gap_first_ = 0, gap_steps_ = 0, gap_uncleared_ = 0;
};

int Main(const std::string& run_folder, int64_t steps, bool faulty) {
  const std::optional<Request> request = RequestFromEnvironment();
  auto writer = TraceWriter::Create({.run_folder = run_folder, .run = request ? request->run : ""});
  if (!writer.ok()) {
    std::fprintf(stderr, "synthetic_stream: %s\n", writer.failure().message.c_str());
    return 1;
  }
  Stream stream(**writer, faulty);
  for (int64_t step = 0; step < steps; ++step) stream.Step(step);
  stream.CloseGap();
  return 0;
}

}  // namespace
}  // namespace dlcheck

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const bool faulty = argc < 4 || std::strcmp(argv[3], "clean") != 0;
  return dlcheck::Main(argv[1], std::atoll(argv[2]), faulty);
}
