// A network of pictures gives the first word of an LSTM, which writes a caption; captions have
// several lengths and are packed. The network of pictures learns nothing but its last layer.
#include <algorithm>
#include <cstdio>

#include "tests/programs_cpp/examples/examples.h"

namespace captioning {

namespace nn = torch::nn;

constexpr int64_t kWords = 14, kEmbed = 24, kHidden = 32, kStart = 1, kEnd = 2;

struct EncoderImpl : nn::Module {
  EncoderImpl()
      : body(nn::Conv2d(nn::Conv2dOptions(1, 8, 3)), nn::ReLU(), nn::AdaptiveAvgPool2d(4),
             nn::Flatten()),
        linear(8 * 16, kEmbed),
        bn(nn::BatchNorm1dOptions(kEmbed).momentum(0.01)) {
    register_module("body", body);
    register_module("linear", linear);
    register_module("bn", bn);
  }
  torch::Tensor forward(torch::Tensor images) {
    torch::Tensor features;
    {
      torch::NoGradGuard no_grad;
      features = body->forward(images);
    }
    return bn->forward(linear->forward(features));
  }
  nn::Sequential body;
  nn::Linear linear;
  nn::BatchNorm1d bn;
};
TORCH_MODULE(Encoder);

struct DecoderImpl : nn::Module {
  DecoderImpl()
      : embed(kWords, kEmbed),
        lstm(nn::LSTMOptions(kEmbed, kHidden).batch_first(true)),
        linear(kHidden, kWords) {
    register_module("embed", embed);
    register_module("lstm", lstm);
    register_module("linear", linear);
  }
  torch::Tensor forward(torch::Tensor features, torch::Tensor captions, torch::Tensor lengths) {
    auto words = embed->forward(captions);
    auto inputs = torch::cat({features.unsqueeze(1), words}, 1);
    auto packed = nn::utils::rnn::pack_padded_sequence(inputs, lengths, /*batch_first=*/true);
    auto hidden = std::get<0>(lstm->forward_with_packed_input(packed));
    return linear->forward(hidden.data());
  }
  // The likeliest word at each position.
  std::vector<int64_t> sample(torch::Tensor features) {
    std::vector<int64_t> ids;
    std::tuple<torch::Tensor, torch::Tensor> state{torch::zeros({1, 1, kHidden}),
                                                   torch::zeros({1, 1, kHidden})};
    auto input = features.unsqueeze(1);
    for (int i = 0; i < 8; ++i) {
      torch::Tensor hidden;
      std::tie(hidden, state) = lstm->forward(input, state);
      auto word = linear->forward(hidden.squeeze(1)).argmax(1);
      ids.push_back(word.item<int64_t>());
      if (ids.back() == kEnd) break;
      input = embed->forward(word).unsqueeze(1);
    }
    return ids;
  }
  nn::Embedding embed;
  nn::LSTM lstm;
  nn::Linear linear;
};
TORCH_MODULE(Decoder);

// Captions (N, longest) of pictures of the classes (N), longest first, and their lengths: start,
// words of the class, end, padding.
std::pair<torch::Tensor, torch::Tensor> Captions(const torch::Tensor& classes) {
  auto captions = torch::zeros({classes.size(0), 8}, torch::kLong);
  auto lengths = torch::empty({classes.size(0)}, torch::kLong);
  for (int64_t i = 0; i < classes.size(0); ++i) {
    const int64_t kind = classes[i].item<int64_t>(), words = 2 + kind;
    captions[i][0] = kStart;
    for (int64_t at = 0; at < words; ++at) captions[i][at + 1] = 3 + (3 * kind + at) % 11;
    captions[i][words + 1] = kEnd;
    lengths[i] = words + 2;
  }
  return {captions, lengths};
}

void Main() {
  const Pictures train = DrawPictures(320, 12, 4);
  Encoder encoder;
  Decoder decoder;
  auto parameters = decoder->parameters();
  for (const auto& more : encoder->linear->parameters()) parameters.push_back(more);
  for (const auto& more : encoder->bn->parameters()) parameters.push_back(more);
  torch::optim::Adam optimizer(parameters, torch::optim::AdamOptions(0.003));
  for (int epoch = 0; epoch != 6; ++epoch) {
    for (const torch::Tensor& indices : torch::randperm(320).split(32)) {
      const auto classes = train.y.index({indices});
      const auto order = classes.argsort(0, /*descending=*/true);
      const auto images = train.x.index({indices.index({order})});
      const auto [captions, lengths] = Captions(classes.index({order}));
      const auto longest = lengths[0].item<int64_t>();
      const auto targets = nn::utils::rnn::pack_padded_sequence(captions.narrow(1, 0, longest),
                                                                lengths, /*batch_first=*/true);
      const auto features = encoder->forward(images);
      const auto outputs = decoder->forward(features, captions.narrow(1, 0, longest - 1), lengths);
      const auto loss = nn::functional::cross_entropy(outputs, targets.data());
      decoder->zero_grad();
      encoder->zero_grad();
      loss.backward();
      optimizer.step();
      if (indices[0].item<int64_t>() % 8 == 0) std::printf("loss %.4f\n", loss.item<double>());
    }
  }
  encoder->eval();
  torch::NoGradGuard no_grad;
  for (int64_t word : decoder->sample(encoder->forward(train.x.narrow(0, 0, 1)))) {
    std::printf("%ld ", word);
  }
  std::printf("\n");
}

const Example example("captioning", Main);

}  // namespace captioning
