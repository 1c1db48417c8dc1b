#include "checks/observe/preload/repeated_draws.h"

#include <ATen/CPUGeneratorImpl.h>

#include <mutex>

#include "checks/observe/preload/call_sites.h"

namespace dlcheck {
namespace {

constexpr size_t kMostStates = size_t{1} << 14;  // that are remembered; the first ones
constexpr int kMostWritten = 2048;
constexpr int64_t kMostAsked = 4096;
constexpr int kWords = 4;  // of 32 bits, of the state: as good as all of it

uint64_t StateNow() {
  const at::Generator& generator = at::detail::getDefaultCPUGenerator();
  auto* engine = at::check_generator<at::CPUGeneratorImpl>(generator);
  const std::lock_guard<std::mutex> lock(engine->mutex_);
  const at::mt19937_data_pod state = engine->engine().data();
  uint64_t digest = 14695981039346656037u;  // FNV-1a
  const auto add = [&digest](uint64_t number) { digest = (digest ^ number) * 1099511628211u; };
  add(state.seed_);
  add(state.next_);
  add(static_cast<uint64_t>(state.left_));
  for (int i = 0; i < kWords; ++i) add(state.state_[static_cast<size_t>(i)]);
  return digest;
}

}  // namespace

// A program may ask for each number that it draws.
void RepeatedDraws::GeneratorAsked() {
  if (asked_++ < kMostAsked) site_ = CallSite();
}

void RepeatedDraws::EvaluationEnds() { evaluated_ = StateNow(); }

void RepeatedDraws::Consumed(int optimizer, ProbeRecorder& recorder) {
  const uint64_t state = StateNow();
  if (state == std::exchange(last_, state) || state == evaluated_) return;
  const int64_t step = recorder.clock().step();
  const std::pair<int, uint64_t> key(optimizer, state);
  const auto known = first_.find(key);
  if (known == first_.end()) {
    // A second state says that training draws: only then can be told that nothing comes again.
    const bool is_second = first_.size() == 1;
    if (first_.size() < kMostStates) first_[key] = {step, is_second};
    if (is_second) Write(optimizer, state, recorder.clock().now(), recorder);
    return;
  }
  if (known->second.step == step) return;
  if (!std::exchange(known->second.is_written, true)) {
    Write(optimizer, state, {known->second.step, 0}, recorder);
  }
  Write(optimizer, state, recorder.clock().now(), recorder);
}

void RepeatedDraws::Write(int optimizer, uint64_t state, const ProbeClock::Moment& moment,
                          ProbeRecorder& recorder) {
  if (written_++ >= kMostWritten) return;
  TraceWriter& writer = recorder.clock().writer();
  const ProbeClock::About about = {writer.Thing("generator", 0, "torch"),
                                   recorder.Optimizer(optimizer).thing(),
                                   writer.Site(site_.file, site_.line, site_.function)};
  recorder.clock().Put(Quantity::kDrawnState, about, moment, static_cast<double>(state >> 32),
                       static_cast<double>(state & 0xFFFFFFFF));
}

}  // namespace dlcheck
