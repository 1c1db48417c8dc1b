#include "checks/observe/probe/probe_clock.h"

#include <cstdio>
#include <cstdlib>

#include "checks/records/sampling.h"

namespace dlcheck {
namespace {

constexpr int kMostSeldom = 1024;

Record Fields(const ProbeClock::About& about, const ProbeClock::Moment& moment, double value,
              double aux) {
  Record record{};
  record.step = moment.step;
  record.micro_step = moment.micro_step;
  record.thing = about.thing;
  record.owner = about.owner;
  record.site = about.site;
  record.value = value;
  record.aux = aux;
  return record;
}

}  // namespace

bool ProbeClock::takes_digest() const { return TakesDigest(step_) || is_asked_for(); }

bool ProbeClock::is_asked_for() const {
  return request_.whole_first && request_.whole_last && *request_.whole_first <= step_ &&
         step_ <= *request_.whole_last;
}

void ProbeClock::Put(Event event, const About& about, double value, double aux) {
  if (sampled_) {
    writer_->PutEvent(event, Fields(about, now(), value, aux));
  } else {
    ++gap_counts_[event];
  }
}

void ProbeClock::PutSeldom(Event event, const About& about) {
  if (seldom_++ >= kMostSeldom) return Put(event, about);
  writer_->PutEvent(event, Fields(about, now(), 0, 0));
}

void ProbeClock::Put(Quantity quantity, const About& about, const Moment& moment, double value,
                     double aux) {
  writer_->PutQuantity(quantity, Fields(about, moment, value, aux));
}

void ProbeClock::PutDigest(Quantity quantity, const About& about, uint64_t digest) {
  Put(quantity, about, static_cast<double>(digest >> 32),
      static_cast<double>(digest & 0xFFFFFFFFu));
}

// From where an interrupted run saved its state, every step is.
bool ProbeClock::IsSampledStep() const {
  return IsSampled(step_) || is_asked_for() ||
         (request_.saved_step && step_ >= *request_.saved_step);
}

void ProbeClock::BeginEvaluation() {
  sampled_evaluation_ = IsSampledEvaluation(++evaluations_);
  evaluation_forwards_ = 0;
}

void ProbeClock::PutOfEvaluation(Event event, const About& about, double value, double aux) {
  const bool is_forward = event == Event::kEvaluationForward;
  if (is_forward) ++evaluation_forwards_;
  if (records_evaluation() && (!is_forward || evaluation_forwards_ <= kMostEvaluationBatches)) {
    writer_->PutEvent(event, Fields(about, now(), value, aux));
  } else {
    ++gap_counts_[event];
  }
}

void ProbeClock::EndStep() {
  transfer_.EndStep(sampled_);
  ++step_;
  micro_step_ = 0;
  sampled_evaluation_ = false;
  if (sampled_) gap_start_ = step_;
  sampled_ = IsSampledStep();
  if (sampled_) WriteGap(step_ - 1);
  writer_->EndStep();
  const std::optional<int64_t>& last = request_.end_step ? request_.end_step : request_.steps;
  if (last && step_ >= *last) {
    writer_->PutEvent(Event::kStopped, Fields({}, now(), 0, 0));
    EndProcess();
  }
}

void ProbeClock::WriteGap(int64_t last_step) {
  for (const auto& [event, count] : gap_counts_) {
    writer_->PutGap(event, gap_start_, last_step, static_cast<double>(count), Record{});
  }
  gap_counts_.clear();
}

void ProbeClock::Finish() {
  if (writer_ == nullptr) return;
  transfer_.ReadAll();
  WriteGap(step_);
  writer_.reset();
}

void ProbeClock::Refuse(std::string_view reason) {
  writer_->Attribute(0, "refused", reason);
  EndProcess();
}

void ProbeClock::EndProcess() {
  Finish();
  std::fflush(nullptr);
  // No handler of the program may write over what it would not have.
  std::_Exit(0);
}

}  // namespace dlcheck
