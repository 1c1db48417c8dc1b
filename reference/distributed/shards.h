// What ranks share out instead of each keeping all of it (ZeRO). Every parameter is flat cut into
// as many equal stretches as there are ranks, the last ones filled up with zeros, and the r-th rank
// keeps the r-th: it alone updates those numbers. The model keeps whole parameters, which are put
// together after each step.
//
// Letters: N numbers of a parameter, W ranks, n numbers of a stretch: ceil(N / W), rounded up
// to 64. Kernels of the CPU work on whole vectors and on a rest, with other roundings; so each
// number is updated as it is within the whole parameter. A stretch may be filled in part, or not at
// all.
//
// Source: Rajbhandari et al. 2020, ZeRO: Memory Optimizations Toward Training Trillion Parameter
// Models.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "reference/distributed/ranks.h"

namespace dlcheck::reference {

class Shards {
 public:
  // `own` is what this rank keeps of `whole`, without filling: a vector, empty where the rank is
  // beyond the end.
  struct Part {
    std::string name;
    torch::Tensor whole;
    torch::Tensor own;
  };

  // In the order of `parameters`, each of which is there once. All ranks call, with models alike.
  Shards(const Ranks& ranks, const std::vector<std::pair<std::string, torch::Tensor>>& parameters);

  const std::vector<Part>& parts() const { return parts_; }

  // From the whole parameters, which somebody has written, what each rank keeps.
  void TakeParameters();

  // Each rank's stretch of every gradient, which are alike on all ranks (ZeRO 1), becomes the
  // gradient of `own`; the whole ones are let go. No collective.
  void TakeGradients();

  // Puts the parameters together from what each rank keeps. One collective for each 25 MiB.
  void PutTogether();

  // The whole of a tensor of which each rank holds as much as of that parameter, such as a moment.
  torch::Tensor Whole(const Part& part, const torch::Tensor& own) const;

 private:
  const Ranks ranks_;
  std::vector<Part> parts_;
};

// n of a parameter.
int64_t StretchOf(int64_t numbers, int64_t world);

}  // namespace dlcheck::reference
