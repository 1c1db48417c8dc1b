#include "reference/distributed/zero/joined_norm.h"

#include <vector>

#include "reference/distributed/process_group/collectives.h"
#include "reference/distributed/process_group/group.h"

namespace dlcheck::reference {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Of each channel over all ranks, float64: mean and variance (C), n (1).
struct Moments {
  Tensor mean, variance, count;
};

Tensor Wide(const Tensor& x) { return x.scalar_type() == at::kDouble ? x : x.to(at::kFloat); }

// As (1, C, 1, 1), in the type of `like`.
Tensor OfChannels(const Tensor& numbers, const Tensor& like) {
  return numbers.to(like.scalar_type()).view({1, -1, 1, 1});
}

Moments MomentsOfAll(const Ranks& ranks, const Tensor& x) {
  const int64_t channels = x.size(1);
  const int64_t count = x.numel() / channels;
  const auto [variance, mean] = at::var_mean(x, {0, 2, 3}, /*unbiased=*/false);
  Tensor own = at::cat({mean, variance * count, at::full({1}, count, mean.options())});
  own = own.to(at::kDouble);
  Tensor gathered = at::empty({ranks.world() * own.numel()}, own.options());
  AllGather(*ranks.group().process_group, gathered, own)->wait();
  // By rank: means, sums of squares about them, counts.
  const std::vector<Tensor> of_ranks =
      gathered.view({ranks.world(), -1}).split_with_sizes({channels, channels, 1}, 1);
  const Tensor& counts = of_ranks[2];
  const Tensor total = counts.sum(0);
  const Tensor joined = (of_ranks[0] * counts).sum(0) / total;
  const Tensor squares = of_ranks[1] + (of_ranks[0] - joined).square() * counts;
  return {joined, squares.sum(0) / total, total};
}

// y = w (x - mean) / deviation + b;
// dx = w / deviation (dy - sum(dy) / n - xhat sum(dy xhat) / n), with sums over all ranks.
// Gradients of w and b are of this rank's rows, as those of other parameters are.
class Normalization : public torch::autograd::Function<Normalization> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& weight,
                        const Tensor& bias, const Tensor& mean, const Tensor& inverse_deviation,
                        const Tensor& count, const Ranks& ranks, bool own_gradients) {
    context->save_for_backward({x, weight, mean, inverse_deviation, count});
    if (!own_gradients) {
      context->saved_data["group"] = c10::IValue::make_capsule(ranks.group().process_group);
    }
    const Tensor wide = Wide(x);
    const Tensor normal = (wide - OfChannels(mean, wide)).mul_(OfChannels(inverse_deviation, wide));
    return normal.mul_(OfChannels(weight, wide)).add_(OfChannels(bias, wide)).to(x.scalar_type());
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    const Tensor dy = Wide(gradients[0]), x = Wide(saved[0]), &weight = saved[1];
    const Tensor inverse_deviation = OfChannels(saved[3], x);
    const Tensor normal = (x - OfChannels(saved[2], x)).mul_(inverse_deviation);
    const Tensor of_bias = dy.sum({0, 2, 3}), of_weight = (dy * normal).sum({0, 2, 3});
    std::vector<Tensor> sums = {at::stack({of_bias, of_weight}).to(at::kDouble)};
    SumOverRanks(context, sums);
    const Tensor means = sums.front() / saved[4];
    const Tensor dx = (dy - OfChannels(means[0], x)).sub_(normal * OfChannels(means[1], x));
    return {dx.mul_(inverse_deviation).mul_(OfChannels(weight, x)).to(saved[0].scalar_type()),
            of_weight.to(weight.scalar_type()),
            of_bias.to(weight.scalar_type()),
            Tensor(),
            Tensor(),
            Tensor(),
            Tensor(),
            Tensor()};
  }

 private:
  static void SumOverRanks(AutogradContext* context, std::vector<Tensor>& sums) {
    const auto found = context->saved_data.find("group");
    if (found == context->saved_data.end()) return;
    c10::static_intrusive_pointer_cast<c10d::ProcessGroup>(found->second.toCapsule())
        ->allreduce(sums)
        ->wait();
  }
};

// With the unbiased variance, as torch::nn::BatchNorm2d.
void MoveStatistics(torch::nn::BatchNorm2dImpl& norm, const Moments& moments) {
  const double momentum = norm.options.momentum().value();
  norm.num_batches_tracked.add_(1);
  const Tensor unbiased = moments.variance * (moments.count / (moments.count - 1));
  norm.running_mean.lerp_(moments.mean.to(norm.running_mean.scalar_type()), momentum);
  norm.running_var.lerp_(unbiased.to(norm.running_var.scalar_type()), momentum);
}

}  // namespace

Tensor JoinedNorm(const Ranks& ranks, torch::nn::BatchNorm2dImpl& norm, const Tensor& x,
                  bool own_gradients) {
  if (!norm.is_training()) return norm.forward(x);
  Moments moments;
  Tensor inverse_deviation;
  {
    const torch::NoGradGuard no_grad;
    moments = MomentsOfAll(ranks, Wide(x));
    inverse_deviation = (moments.variance + norm.options.eps()).rsqrt();
    MoveStatistics(norm, moments);
  }
  return Normalization::apply(x, norm.weight, norm.bias, moments.mean, inverse_deviation,
                              moments.count, ranks, own_gradients);
}

}  // namespace dlcheck::reference
