// How the rows of texts end: with which tokens the trained part of padded rows ends, and whether
// rows that fill all places lack the token that ends each shorter one.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "checks/observe/preload/losses/loss_given.h"
#include "checks/observe/probe/probe_recorder.h"

namespace dlcheck {

class TextEnds {
 public:
  // A loss was given, after tokens (rows, positions) were looked up.
  void Given(const LossGiven& loss, const std::vector<at::Tensor>& words, ProbeRecorder& recorder);

 private:
  static constexpr int64_t kFewestRowsOfTexts = 64;
  void CountTrained(const LossGiven& loss, const at::Tensor& rows, ProbeRecorder& recorder);
  void CountCut(const LossGiven& loss, const at::Tensor& tokens, const at::Tensor& padding,
                ProbeRecorder& recorder);

  // Of rows whose targets are ignored from some place on: the last that counts, and how often.
  std::map<int64_t, int64_t> ends_;
  int64_t next_of_ends_ = kFewestRowsOfTexts;  // rows at which to speak next

  std::set<int64_t> last_of_shorter_;  // tokens
  // Of full rows: the last token with the target behind it, and how often.
  std::map<std::pair<int64_t, int64_t>, int64_t> last_of_full_;
  int64_t shorter_ = 0, next_of_cut_ = kFewestRowsOfTexts;
};

}  // namespace dlcheck
