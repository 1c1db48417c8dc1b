// The ranks that train one model together, as one of them sees them. A run that is alone is a world
// of one, in which every call returns at once.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace dlcheck::reference {

struct Group;     // a process group of c10d: group.h
class Heartbeat;  // heartbeat.h

class Ranks {
 public:
  Ranks() = default;
  explicit Ranks(std::shared_ptr<Group> group);

  int64_t rank() const { return rank_; }
  int64_t world() const { return world_; }
  bool are_many() const { return world_ > 1; }
  bool is_first() const { return rank_ == 0; }  // which prints, logs and saves for all

  // REQUIRES: are_many().
  const Group& group() const { return *group_; }

  // What tells the others of this rank, and this one of them; none where ranks are threads.
  void KeepInTouch(std::shared_ptr<Heartbeat> heartbeat) { heartbeat_ = std::move(heartbeat); }
  Heartbeat* heartbeat() const { return heartbeat_.get(); }
  // That this rank is at this step: where the others last saw it, should it be lost.
  void At(int64_t step) const;

  // Below: all ranks call, in one order and with as many values or tensors. Each gets the same
  // bits. Errors: c10::Error if another rank is gone, calls something else or does not come.

  // Sums by place, added up in float64.
  std::vector<double> Sums(const std::vector<double>& values) const;
  double Sum(double value) const { return Sums({value}).front(); }
  // The largest, of numbers: one that is none may be lost.
  double Largest(double value) const;
  // That of every rank, by rank.
  std::vector<std::string> Texts(const std::string& text) const;
  // Tensors of rank 0 into those of the others, in place.
  void TakeFromFirst(std::vector<torch::Tensor> tensors) const;

 private:
  std::shared_ptr<Group> group_;
  std::shared_ptr<Heartbeat> heartbeat_;
  int64_t rank_ = 0;
  int64_t world_ = 1;
};

}  // namespace dlcheck::reference
