#include "checks/observe/preload/batches/batch_facts.h"

#include <algorithm>
#include <utility>

#include "checks/observe/preload/batches/row_digests.h"

namespace dlcheck {
namespace {

constexpr size_t kMostTexts = 4;  // of a pass
constexpr int64_t kFewestPositionsOfText = 4, kMostTokensKept = 1 << 18;

bool IsText(const at::Tensor& tensor) {
  const bool is_whole = tensor.scalar_type() == at::kLong || tensor.scalar_type() == at::kInt;
  return is_whole && IsAtHand(tensor) && tensor.dim() == 2 && tensor.size(0) > 0 &&
         tensor.size(1) >= kFewestPositionsOfText && tensor.numel() <= kMostTokensKept;
}

}  // namespace

// The first text of a pass is looked up before the pass is seen to begin.
void BatchFacts::Enters(const at::Tensor& input, const std::optional<ChosenBatch>& batch,
                        ProbeRecorder& recorder) {
  words_.clear();
  if (IsText(input)) Looked(input);
  // A batch in parts, one after the other, goes on in the next part.
  is_shuffled_ = batch && batch->is_random;
  const bool needs_rows = !contradicting_.is_over() || !repeated_.is_over();
  const std::vector<uint64_t> rows =
      needs_rows && HasFractions(input) ? RowDigests(input) : std::vector<uint64_t>();
  contradicting_.Enters(rows);
  repeated_.Enters(rows, batch);
  identical_.Enters(input, /*trains=*/true, recorder);
  same_.Enters(input, recorder);
  among_.Enters(input);
  pairs_.Enters(input, recorder);
  views_.Enters(input, recorder);
  masks_.Enters(input);
}

void BatchFacts::LookedUp(const at::Tensor& weight, const at::Tensor& rows,
                          ProbeRecorder& recorder) {
  columns_.Saw(weight, rows, recorder);
  const int64_t step = recorder.clock().step();
  if (std::exchange(words_step_, step) != step) words_.clear();
  if (rows.defined() && IsText(rows)) Looked(rows);
}

void BatchFacts::Looked(const at::Tensor& tokens) {
  const auto is_known = [&](const at::Tensor& known) { return known.equal(tokens.detach()); };
  if (words_.size() >= kMostTexts || std::any_of(words_.begin(), words_.end(), is_known)) return;
  words_.push_back(tokens.detach().clone());
}

void BatchFacts::Given(const LossGiven& loss, ProbeRecorder& recorder) {
  PassEnds();
  contradicting_.Given(loss);
  among_.Given(loss, words_, recorder);
  pairs_.Given(loss, recorder);
  views_.Given(loss, recorder);
  made_.Given(loss, recorder);
  masks_.Given(loss, recorder);
  if (words_.empty()) return;
  ends_.Given(loss, words_, recorder);
  ignored_.Given(loss, words_, recorder);
  reordered_.Given(loss, words_, recorder);
  across_.Given(loss, words_, recorder);
}

void BatchFacts::StepEnds(ProbeRecorder& recorder) {
  contradicting_.StepEnds(recorder);
  repeated_.StepEnds(recorder);
}

void BatchFacts::EvaluationEnters(const at::Tensor& input, const std::optional<ChosenBatch>& batch,
                                  ProbeRecorder& recorder) {
  identical_.Enters(input, /*trains=*/false, recorder);
  if (!recorder.clock().records_evaluation()) return;
  statistics_.Evaluated(input);
  redrawn_.Enters(batch);
}

void BatchFacts::EvaluationEnds(uint32_t model, const std::unordered_set<uint64_t>& rows,
                                bool is_new, ProbeRecorder& recorder) {
  statistics_.EvaluationEnds(model, is_new, recorder);
  redrawn_.EvaluationEnds(model, rows, recorder);
}

bool BatchFacts::Is(const at::RecordFunction& function) const {
  return made_.Is(function) || same_.Is(function);
}

void BatchFacts::Begins(const at::RecordFunction& function) {
  if (made_.Is(function)) made_.Begins(function);
  if (same_.Is(function)) same_.Begins(function);
}

void BatchFacts::Returned(const at::RecordFunction& function) {
  if (made_.Is(function)) made_.Returned(function);
  if (same_.Is(function)) same_.Returned(function);
}

}  // namespace dlcheck
