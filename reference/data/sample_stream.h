// The random numbers of one sample in one epoch. They depend on nothing else: not on its batch, not
// on the number of ranks or threads, not on where a run was resumed.
#pragma once

#include <cstdint>

namespace dlcheck::reference {

class SampleStream {
 public:
  // `purpose` keeps what is drawn for one thing apart from what is drawn for another.
  SampleStream(uint64_t seed, int64_t epoch, int64_t row, uint32_t purpose);

  double Uniform();              // from 0 to below 1
  int64_t Below(int64_t count);  // from 0 to below `count`
  double Normal();               // of mean 0 and deviation 1. Source: Box and Muller 1958
  // Beta(alpha, alpha). REQUIRES: 0 < alpha <= 1. Source: Johnk 1964.
  double Beta(double alpha);

 private:
  uint64_t next_;
};

}  // namespace dlcheck::reference
