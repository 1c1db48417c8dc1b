// Parameters: `kind` (norm, value, adaptive), `bound`, `p`. Inputs: `gradient/NAME`, `weight/NAME`.
// Puts out the gradients, and `norm`.
#include "reference/optimization/clipping.h"

#include "tests/pytorch_parity/subject/subject.h"

namespace dlcheck::reference {

void Clipping(Case& run) {
  std::vector<torch::Tensor> gradients, weights;
  const Case::Tensors named = run.Inputs("gradient/");
  for (const auto& [name, gradient] : named) gradients.push_back(gradient);
  for (const auto& [name, weight] : run.Inputs("weight/")) weights.push_back(weight);
  const auto deviation =
      run.Named<ClipDeviation>("deviation", {{"none", ClipDeviation::kNone},
                                             {"no_epsilon", ClipDeviation::kNoEpsilon},
                                             {"always_rescales", ClipDeviation::kAlwaysRescales},
                                             {"per_tensor_norm", ClipDeviation::kPerTensorNorm},
                                             {"no_floor", ClipDeviation::kNoFloor}});
  const std::string kind = run.Text("kind", "norm");
  const double bound = run.Number("bound", 1);
  if (kind == "norm") run.Put("norm", ClipByNorm(gradients, bound, run.Number("p", 2), deviation));
  if (kind == "value") ClipByValue(gradients, bound);
  if (kind == "adaptive") {
    ClipAdaptive(weights, gradients, bound, run.Number("floor", 1e-3), deviation);
  }
  for (const auto& [name, gradient] : named) run.Put("gradient/" + name, gradient);
}

}  // namespace dlcheck::reference
