// Where something begins to matter that must not: the first operation that makes another value of
// what ought to stay.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dlcheck/probe.h"

namespace dlcheck {

class FirstChange {
 public:
  // From here on, values are kept; from the second call on, they are compared with those kept.
  void BeginsKeeping();
  void BeginsComparing();
  // An operation made a value, of which this part must stay. Cost: one pass over it.
  void Made(const std::string& operation, const at::Tensor& staying);
  // The program's line of the first operation that made another value; none if there is none.
  const std::optional<Probe::Site>& site() const { return site_; }

 private:
  enum class State { kResting, kKeeping, kComparing };

  State state_ = State::kResting;
  std::vector<std::pair<std::string, at::Tensor>> kept_;
  size_t compared_ = 0;
  std::optional<Probe::Site> site_;
};

// How far `other` is from `one`, of the norm of `one`; infinite where only one is finite.
double DistanceOf(const at::Tensor& one, const at::Tensor& other);

}  // namespace dlcheck
