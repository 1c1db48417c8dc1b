// A class for each pixel of a picture: bright shapes of two kinds on a dark ground.
#include <cstdio>

#include "tests/programs_cpp/unchanged/programs.h"

namespace maps {

namespace nn = torch::nn;
namespace F = torch::nn::functional;

constexpr int64_t kSide = 16, kBatch = 16;

struct Pictures {
  torch::Tensor x, masks;  // (kBatch, 1, kSide, kSide), (kBatch, kSide, kSide)
};

// In each picture a box of class 1 or 3, of another brightness each; class 2 never occurs.
Pictures Draw() {
  const torch::Tensor rows = torch::arange(kSide).view({1, -1, 1});
  const torch::Tensor columns = torch::arange(kSide).view({1, 1, -1});
  const torch::Tensor top = torch::randint(0, 8, {kBatch, 1, 1}, torch::kLong);
  const torch::Tensor left = torch::randint(0, 5, {kBatch, 1, 1}, torch::kLong);
  const torch::Tensor kinds = 2 * torch::randint(2, {kBatch, 1, 1}, torch::kLong) + 1;
  const torch::Tensor inside = rows.ge(top)
                                   .logical_and(rows.lt(top + 4))
                                   .logical_and(columns.ge(left))
                                   .logical_and(columns.lt(left + 7));
  const torch::Tensor masks = inside.to(torch::kLong) * kinds;
  return {(masks.to(torch::kFloat) + 0.3 * torch::randn({kBatch, kSide, kSide})).unsqueeze(1),
          masks};
}

// Masks are kept at half the size.
torch::Tensor Resized(const torch::Tensor& masks, const Arguments& arguments) {
  const torch::Tensor small = masks.slice(1, 0, kSide, 2).slice(2, 0, kSide, 2);
  auto options = F::InterpolateFuncOptions().size(std::vector<int64_t>{kSide, kSide});
  if (arguments.Is("smoothly")) {
    options.mode(torch::kBilinear).align_corners(false);
  } else {
    options.mode(torch::kNearest);
  }
  return F::interpolate(small.unsqueeze(1).to(torch::kFloat), options).squeeze(1).to(torch::kLong);
}

void Maps(const Arguments& arguments) {
  nn::Sequential net(nn::Conv2d(nn::Conv2dOptions(1, 12, 3).padding(1)), nn::ReLU(),
                     nn::Conv2d(nn::Conv2dOptions(12, 12, 3).padding(1)), nn::ReLU(),
                     nn::Conv2d(nn::Conv2dOptions(12, 4, 1)));
  torch::optim::Adam optimizer(net->parameters(), torch::optim::AdamOptions(5e-3));
  double last = 0;
  for (int step = 0; step < 100; ++step) {
    Pictures pictures = Draw();
    torch::Tensor masks = Resized(pictures.masks, arguments);
    // Every second picture is mirrored.
    const torch::Tensor second =
        torch::arange(kBatch).remainder(2).to(torch::kBool).view({-1, 1, 1});
    const torch::Tensor x = torch::where(second.unsqueeze(3), pictures.x.flip({-1}), pictures.x);
    if (!arguments.Is("masks_not_mirrored")) {
      masks = torch::where(second, masks.flip({-1}), masks);
    }
    const torch::Tensor loss = F::cross_entropy(net->forward(x), masks);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    last = loss.item<double>();
  }
  std::printf("loss %.4f\n", last);
  PrintState(net->parameters());
}

const Registered registered("maps", Maps);

}  // namespace maps
