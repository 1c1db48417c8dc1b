// The trunk of a recurrent language model: an embedding and a stack of LSTM layers, which begin
// each sample with a state of zeros. Source: Hochreiter and Schmidhuber 1997; Zaremba et al. 2014.
//
// Letters: B batch, T tokens, F features.
#pragma once

#include <torch/torch.h>

#include <cstdint>

namespace dlcheck::reference {

struct ModelOptions;

class RecurrentImpl : public torch::nn::Module {
 public:
  // Of the options: width (0: 128), depth (0: 2 layers), dropout on the embedding, between layers
  // and behind the last, and vocabulary. Errors: UsageError without a vocabulary.
  explicit RecurrentImpl(const ModelOptions& options);

  // (B, T), int64, to (B, T, F); position t depends on positions 0 to t.
  torch::Tensor forward(const torch::Tensor& tokens);

  int64_t features() const { return width_; }
  torch::Tensor embedding() const { return embedding_->weight; }  // (vocabulary, F)

 private:
  int64_t width_;
  torch::nn::Embedding embedding_{nullptr};
  torch::nn::Dropout dropout_{nullptr};
  torch::nn::LSTM lstm_{nullptr};
};
TORCH_MODULE(Recurrent);

}  // namespace dlcheck::reference
