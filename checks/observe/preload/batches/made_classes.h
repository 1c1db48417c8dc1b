// Classes that an interpolation made up: a mask of class numbers is resized by averages of
// neighbors, and made integer again. Class 2 then lies between the classes 1 and 3.
#pragma once

#include <ATen/record_function.h>

#include <cstdint>
#include <map>

#include "checks/observe/preload/losses/loss_given.h"
#include "checks/observe/probe/probe_recorder.h"

namespace dlcheck {

class MadeClasses {
 public:
  // Whether an operation resizes by averages, as long as that is of interest.
  bool Is(const at::RecordFunction& function) const;
  void Begins(const at::RecordFunction& function);
  // Cost: the different numbers of each mask.
  void Returned(const at::RecordFunction& function);
  void Given(const LossGiven& loss, ProbeRecorder& recorder);

 private:
  struct Made {
    double positions, one;  // of a class that was made up; the class
    Probe::Site site;
  };
  void Keep(const at::Tensor& known, const at::Tensor& made, const Probe::Site& site);

  int calls_ = 0, looks_ = 0;
  at::Tensor source_;               // of the operation under way
  std::map<uint64_t, Made> masks_;  // by digest of a mask as integers
};

}  // namespace dlcheck
