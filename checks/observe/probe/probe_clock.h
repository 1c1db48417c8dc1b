// The clock and the records of a C++ program under watch: what all parts of the probe write
// through. Counts steps and backward calls; events of steps that are not sampled become gaps.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "checks/observe/probe/tensor_summary.h"
#include "checks/records/request.h"
#include "checks/records/sampling.h"
#include "checks/records/trace_writer.h"

namespace dlcheck {

class ProbeClock {
 public:
  // Where and about what; 0 is none.
  struct About {
    uint32_t thing = 0;
    uint32_t owner = 0;
    uint32_t site = 0;
  };

  ProbeClock(const Request& request, std::unique_ptr<TraceWriter> writer)
      : request_(request), writer_(std::move(writer)) {}

  TraceWriter& writer() { return *writer_; }
  // Whether nothing has been said of a thing so far: true once for each.
  bool IsFirstOf(uint32_t thing) { return described_.insert(thing).second; }
  Transfer& transfer() { return transfer_; }
  int64_t step() const { return step_; }
  uint32_t micro_step() const { return micro_step_; }
  bool sampled() const { return sampled_; }
  bool takes_digest() const;
  bool is_detailed() const { return sampled_ && (IsDetailed(step_) || is_asked_for()); }
  bool takes_scalars() const { return sampled_ || !writer_->past_half_cap(); }

  // Writes an event of a sampled step; of another step only the count is kept.
  void Put(Event event, const About& about, double value = 0, double aux = 0);
  // The same of what happens seldom, as a file that is read: written in any step.
  void PutSeldom(Event event, const About& about);
  // Writes a value, sampled or not, under the step and micro-step given, which may be past.
  struct Moment {
    int64_t step;
    uint32_t micro_step;
  };
  Moment now() const { return {step_, micro_step_}; }
  void Put(Quantity quantity, const About& about, const Moment& moment, double value,
           double aux = 0);
  void Put(Quantity quantity, const About& about, double value, double aux = 0) {
    Put(quantity, about, now(), value, aux);
  }
  void PutDigest(Quantity quantity, const About& about, uint64_t digest);

  // An evaluation begins; until the next step ends it is recorded if it or the step is sampled.
  void BeginEvaluation();
  bool records_evaluation() const { return sampled_ || sampled_evaluation_; }
  // Writes an event of an evaluation that is recorded, of its forwards no more than a bound.
  void PutOfEvaluation(Event event, const About& about, double value = 0, double aux = 0);

  void CountBackward() { ++micro_step_; }
  // Moves the clock on; a gap ends where the next sampled step begins. Does not come back when the
  // request asks for no more steps.
  void EndStep();

  // Writes what is still held back and closes the files; nothing may be put after it.
  void Finish();
  // Closes the files while another thread may put something, which is not recorded any more.
  void FinishElsewhere() { writer_->End(); }

  // Says that the experiment cannot be carried out, and ends the process.
  [[noreturn]] void Refuse(std::string_view reason);

 private:
  // Whether the user asked for this step in full.
  bool is_asked_for() const;
  bool IsSampledStep() const;
  void WriteGap(int64_t last_step);
  [[noreturn]] void EndProcess();

  Request request_;
  std::unique_ptr<TraceWriter> writer_;
  Transfer transfer_;
  int64_t step_ = 0;
  uint32_t micro_step_ = 0;
  bool sampled_ = true;
  int64_t gap_start_ = 0;
  int seldom_ = 0;  // events that were written in any step
  int64_t evaluations_ = 0;
  int64_t evaluation_forwards_ = 0;  // of the evaluation under way
  bool sampled_evaluation_ = false;
  std::map<Event, int64_t> gap_counts_;
  std::set<uint32_t> described_;
};

}  // namespace dlcheck
