// The runs of all experiments, and the signals read from them. Each signal is read once and kept.
// An experiment that did not run has a reason instead. The reason becomes the outcome of the checks
// that need the experiment: FailedPrecondition, not applicable; DeadlineExceeded, timed out.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <typeindex>
#include <utility>

#include "absl/status/statusor.h"
#include "checks/engine/experiment.h"
#include "checks/engine/trace.h"

namespace dlcheck {

template <typename S>
concept Signal = requires(const Run& run) {
  { S::kName } -> std::convertible_to<std::string_view>;
  { S::From(run) } -> std::same_as<absl::StatusOr<S>>;
};

class Evidence {
 public:
  // Defined in evidence.cc, as those of Trace are in trace.cc.
  Evidence();
  Evidence(const Evidence& other);
  Evidence(Evidence&& other) noexcept;
  Evidence& operator=(Evidence&& other) noexcept;
  ~Evidence();

  void Add(const Experiment& experiment, Run run);
  void AddMissing(const Experiment& experiment, absl::Status why);

  // True if the experiment was run or has a reason why not.
  bool Knows(const Experiment& experiment) const;
  // Null if it was not run.
  const Run* RunOf(const Experiment& experiment) const;
  // In the order added.
  const std::deque<std::pair<Experiment, Run>>& runs() const { return runs_; }
  const std::deque<std::pair<Experiment, absl::Status>>& missing() const { return missing_; }

  // Valid as long as the evidence; not safe from several threads.
  template <Signal S>
  const absl::StatusOr<S>& Get(const Experiment& experiment) const {
    std::shared_ptr<const void>& kept = Kept(experiment, typeid(S));
    if (kept == nullptr) kept = std::make_shared<const absl::StatusOr<S>>(Read<S>(experiment));
    return *static_cast<const absl::StatusOr<S>*>(kept.get());
  }

 private:
  template <Signal S>
  absl::StatusOr<S> Read(const Experiment& experiment) const {
    if (const Run* run = RunOf(experiment)) return S::From(*run);
    return WhyMissing(experiment);
  }
  absl::Status WhyMissing(const Experiment& experiment) const;
  // Where a signal of this type is kept; null before it was read.
  std::shared_ptr<const void>& Kept(const Experiment& experiment, std::type_index type) const;

  // Deques, because signals hold spans into the traces: a run never moves once added.
  std::deque<std::pair<Experiment, Run>> runs_;
  std::deque<std::pair<Experiment, absl::Status>> missing_;
  mutable std::map<std::pair<std::string, std::type_index>, std::shared_ptr<const void>> signals_;
};

}  // namespace dlcheck
