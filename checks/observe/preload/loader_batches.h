// The batches that samplers chose, told as they enter a model: which loader they come from, and at
// which place of a pass. A loader with threads of its own asks for several in advance.
#pragma once

#include <deque>
#include <optional>
#include <set>

#include "checks/observe/preload/samplers.h"
#include "checks/observe/probe/probe_recorder.h"

namespace dlcheck {

class LoaderBatches {
 public:
  void Chosen(const ChosenBatch& batch, ProbeRecorder& recorder);
  // A batch enters a model, in training or in an evaluation.
  void Enters(bool evaluates, ProbeRecorder& recorder);
  void StepEnds();
  // What was chosen for the batch that entered last; nothing if no loader chose it.
  const std::optional<ChosenBatch>& entered() const { return last_; }

 private:
  void Write(const ChosenBatch& batch, bool evaluates, ProbeRecorder& recorder);
  uint32_t Thing(const ChosenBatch& batch, ProbeRecorder& recorder);

  std::deque<ChosenBatch> waiting_;
  bool reads_ahead_ = false;
  bool entered_ = false;  // a batch, in this step
  std::optional<ChosenBatch> last_;
  std::set<int> described_;
};

}  // namespace dlcheck
