// The exponential moving average of a model's values, or the equal average of some of them (SWA),
// to be evaluated in the place of the live ones.
#pragma once

#include <torch/torch.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "reference/checkpoint/state.h"

namespace dlcheck::reference {

// Ways of being wrong on purpose.
enum class AverageDeviation : uint8_t {
  kNone,
  kNeverUpdated,
  kAlwaysFirst,    // each update is taken for the first one, and copies
  kInvertedDecay,  // decay and 1 - decay exchanged
};

class Average {
 public:
  struct Options {
    double decay = 0.999;
    bool is_equal =
        false;  // all updates weigh the same, whatever the decay. Source: Izmailov et al. 2018.
    bool average_buffers = false;  // else they are copied; integers are copied always
    AverageDeviation deviation = AverageDeviation::kNone;
  };

  // What is averaged in the place of a parameter.
  using Kept = std::function<torch::Tensor(const torch::Tensor& parameter)>;

  // Starts as a copy of what `module` holds now. The tensors of the module stay the same objects
  // for as long as the average lives.
  //
  // Errors: UsageError for a decay outside 0 to 1.
  Average(
      const torch::nn::Module& module, const Options& options,
      const Kept& kept = [](const torch::Tensor& parameter) { return parameter; });

  // The first update copies, each later one is average += (1 - decay) (live - average).
  // Source: Polyak and Juditsky 1992; as AveragedModel with get_ema_multi_avg_fn, or with
  // get_swa_multi_avg_fn.
  void Update();

  bool has_updates() const { return updates_.item<int64_t>() > 0; }

  // Swaps the averaged and the live values; called again, swaps them back. Neither updates nor
  // checkpoints belong between the two calls.
  void Exchange();

  // average/NAME of each parameter and buffer, and `updates`. A tensor that stands under two names
  // has one average under both.
  void VisitState(const VisitTensor& visit);

 private:
  struct Entry {
    std::string name;
    torch::Tensor live, averaged;
    bool is_copied;
    bool is_other_name;  // of a tensor that has an entry
  };
  void Add(const std::string& name, const torch::Tensor& live, bool is_copied);
  double WeightOfUpdate() const;

  Options options_;
  std::vector<Entry> entries_;
  std::unordered_map<const at::TensorImpl*, size_t> places_;  // of entries, by what is live
  torch::Tensor updates_;
};

}  // namespace dlcheck::reference
