// All parts that look at what a model is given, and at the targets that come with it.
#pragma once

#include <ATen/record_function.h>
#include <torch/torch.h>

#include <cstdint>
#include <optional>
#include <unordered_set>
#include <vector>

#include "checks/observe/preload/batches/columns_of_ids.h"
#include "checks/observe/preload/batches/contradicting_rows.h"
#include "checks/observe/preload/batches/identical_rows.h"
#include "checks/observe/preload/batches/identical_views.h"
#include "checks/observe/preload/batches/ignored_within.h"
#include "checks/observe/preload/batches/made_classes.h"
#include "checks/observe/preload/batches/misaligned_masks.h"
#include "checks/observe/preload/batches/own_statistics.h"
#include "checks/observe/preload/batches/pair_order.h"
#include "checks/observe/preload/batches/redrawn_rows.h"
#include "checks/observe/preload/batches/reordered_tokens.h"
#include "checks/observe/preload/batches/repeated_samples.h"
#include "checks/observe/preload/batches/same_rows.h"
#include "checks/observe/preload/batches/target_among_inputs.h"
#include "checks/observe/preload/batches/text_across_batch.h"
#include "checks/observe/preload/batches/text_ends.h"
#include "checks/observe/preload/losses/loss_given.h"
#include "checks/observe/preload/samplers.h"
#include "checks/observe/probe/probe_recorder.h"

namespace dlcheck {

class BatchFacts {
 public:
  // A model is given its input in training; `batch`: what a sampler chose for it, if one did.
  void Enters(const at::Tensor& input, const std::optional<ChosenBatch>& batch,
              ProbeRecorder& recorder);
  // An operation of the same pass is given more data.
  bool WaitsForMore() const { return identical_.waits(); }
  void GivenToo(const at::Tensor& given) { identical_.GivenToo(given); }
  void PassEnds() { identical_.PassEnds(); }
  // Rows are looked up in an embedding, in training.
  void LookedUp(const at::Tensor& weight, const at::Tensor& rows, ProbeRecorder& recorder);
  // A loss was given, in training.
  void Given(const LossGiven& loss, ProbeRecorder& recorder);
  void StepEnds(ProbeRecorder& recorder);
  // Copies of the tokens (rows, positions) that were looked up in the pass under way.
  const std::vector<at::Tensor>& words() const { return words_; }
  // Whether a loader drew the batch of the pass under way at random.
  bool is_shuffled() const { return is_shuffled_; }

  // A batch enters a model in an evaluation, of which a loss is given and which ends. `rows`: the
  // numbers of all of its rows; `is_new`: none of them was trained on, and some were.
  void EvaluationEnters(const at::Tensor& input, const std::optional<ChosenBatch>& batch,
                        ProbeRecorder& recorder);
  void Evaluated(const LossGiven& loss) { redrawn_.Evaluated(loss); }
  void EvaluationEnds(uint32_t model, const std::unordered_set<uint64_t>& rows, bool is_new,
                      ProbeRecorder& recorder);

  // An operation on data begins, or returned; Is() says of which that is to be told.
  bool Is(const at::RecordFunction& function) const;
  void Begins(const at::RecordFunction& function);
  void Returned(const at::RecordFunction& function);

 private:
  void Looked(const at::Tensor& tokens);

  std::vector<at::Tensor> words_;
  int64_t words_step_ = -1;
  bool is_shuffled_ = false;
  ContradictingRows contradicting_;
  RepeatedSamples repeated_;
  IdenticalRows identical_;
  SameRows same_;
  TextEnds ends_;
  IgnoredWithin ignored_;
  ReorderedTokens reordered_;
  TextAcrossBatch across_;
  TargetAmongInputs among_;
  PairOrder pairs_;
  IdenticalViews views_;
  ColumnsOfIds columns_;
  MadeClasses made_;
  MisalignedMasks masks_;
  OwnStatistics statistics_;
  RedrawnRows redrawn_;
};

}  // namespace dlcheck
