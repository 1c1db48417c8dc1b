// What ranks share out instead of each keeping all of it (ZeRO). Every parameter is flat cut into
// as many equal stretches as there are ranks, the last ones filled up with zeros, and the r-th rank
// keeps the r-th: it alone updates those numbers. The model keeps whole parameters, which are put
// together after each step, or, of ZeRO 3, while they are read (sharded_parameters.h).
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

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "reference/distributed/process_group/ranks.h"

namespace dlcheck::reference {

class Shards {
 public:
  // `own` is what this rank keeps of `whole`, without filling: a vector, empty where the rank is
  // beyond the end. It lies within the whole, or, where there are blocks, in memory of its own, as
  // the whole may then be let go.
  struct Part {
    std::string name;
    torch::Tensor whole;
    torch::Tensor own;
    int64_t block;
  };
  // Parts next to each other that one collective takes: of one block and one type, some 25 MiB.
  struct Bundle {
    size_t begin, end;
  };

  // In the order of `parameters`, each of which is there once, with the block of each; without
  // `blocks` all are of one. All ranks call, with models alike.
  Shards(const Ranks& ranks, const std::vector<std::pair<std::string, torch::Tensor>>& parameters,
         const std::vector<int64_t>& blocks = {});

  // Those that share out; each has its stretch of every parameter.
  const Ranks& ranks() const { return ranks_; }
  const std::vector<Part>& parts() const { return parts_; }
  const std::vector<Bundle>& bundles() const { return bundles_; }

  // Of a parameter; none if it is not shared out.
  const Part* PartOf(const torch::Tensor& parameter) const;

  // Each rank's stretch of every gradient, which are alike on all ranks (ZeRO 1), becomes the
  // gradient of `own`, within the memory of the whole one. No collective.
  void TakeGradients();

  // Puts the parameters together from what each rank keeps. One collective a bundle.
  void PutTogether();

  // Begins that for one bundle; the result ends it, once. Autograd takes no notice, as what a graph
  // has kept of the parameters is to be there again. Errors, then: c10::Error that names the rank
  // that began another bundle.
  std::function<void()> BeginPuttingTogether(const Bundle& bundle) const;

  // The whole of a tensor of which each rank holds as much as of that parameter, such as a moment.
  torch::Tensor Whole(const Part& part, const torch::Tensor& own) const;

 private:
  void Bind();

  const Ranks ranks_;
  std::vector<Part> parts_;
  std::vector<Bundle> bundles_;
  std::unordered_map<const at::TensorImpl*, size_t> places_;  // of parts, by the whole
};

// What this rank keeps of a parameter: its stretch, or all of it, if it is not shared out or there
// are no `shards`.
torch::Tensor KeptOf(const Shards* shards, const torch::Tensor& parameter);

// n of a parameter.
int64_t StretchOf(int64_t numbers, int64_t world);

}  // namespace dlcheck::reference
