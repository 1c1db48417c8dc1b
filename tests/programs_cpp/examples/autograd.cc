// What autograd does, without a model: gradients of products, of a sum of gradients, and of a
// function of one's own. Nothing is trained.
#include <cstdio>

#include "tests/programs_cpp/examples/examples.h"

namespace autograd {

void BasicOperations() {
  auto x = torch::ones({2, 2}, torch::requires_grad());
  auto y = x + 2;
  auto z = y * y * 3;
  auto out = z.mean();
  out.backward();
  std::printf("d(out)/dx %.3f\n", x.grad().sum().item<double>());
  x = torch::randn(3, torch::requires_grad());
  y = x * 2;
  while (y.norm().item<double>() < 1000) y = y * 2;
  y.backward(torch::tensor({0.1, 1.0, 0.0001}, torch::kFloat));
  std::printf("x.grad %.4f\n", x.grad().norm().item<double>());
  torch::NoGradGuard no_grad;
  std::printf("requires grad: %d\n", static_cast<int>(x.pow(2).requires_grad()));
}

void HigherOrderGradients() {
  auto model = torch::nn::Linear(4, 3);
  auto input = torch::randn({3, 4}).requires_grad_(true);
  auto output = model(input);
  auto target = torch::randn({3, 3});
  auto loss = torch::nn::MSELoss()(output, target);
  // The norm of the gradients as a penalty.
  auto grad_output = torch::ones_like(output);
  auto gradient = torch::autograd::grad({output}, {input}, {grad_output}, /*retain_graph=*/true,
                                        /*create_graph=*/true)[0];
  auto gradient_penalty = torch::pow((gradient.norm(2, /*dim=*/1) - 1), 2).mean();
  auto combined_loss = loss + gradient_penalty;
  combined_loss.backward();
  std::printf("input.grad %.4f\n", input.grad().norm().item<double>());
}

class LinearFunction : public torch::autograd::Function<LinearFunction> {
 public:
  static torch::Tensor forward(torch::autograd::AutogradContext* context, torch::Tensor input,
                               torch::Tensor weight, torch::Tensor bias) {
    context->save_for_backward({input, weight, bias});
    return input.mm(weight.t()) + bias.unsqueeze(0).expand({input.size(0), weight.size(0)});
  }
  static torch::autograd::tensor_list backward(torch::autograd::AutogradContext* context,
                                               torch::autograd::tensor_list grad_outputs) {
    auto saved = context->get_saved_variables();
    auto grad_output = grad_outputs[0];
    return {grad_output.mm(saved[1]), grad_output.t().mm(saved[0]), grad_output.sum(0)};
  }
};

void CustomAutogradFunction() {
  auto x = torch::randn({2, 3}).requires_grad_();
  auto weight = torch::randn({4, 3}).requires_grad_();
  auto bias = torch::randn({4}).requires_grad_();
  auto y = LinearFunction::apply(x, weight, bias);
  y.sum().backward();
  std::printf("x.grad %.4f weight.grad %.4f bias.grad %.1f\n", x.grad().sum().item<double>(),
              weight.grad().sum().item<double>(), bias.grad().sum().item<double>());
}

void Main() {
  BasicOperations();
  HigherOrderGradients();
  CustomAutogradFunction();
}

const Example example("autograd", Main);

}  // namespace autograd
