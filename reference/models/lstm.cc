#include "reference/models/lstm.h"

#include "reference/models/models.h"
#include "reference/recipe/rejection.h"

namespace dlcheck::reference {

namespace nn = torch::nn;

RecurrentImpl::RecurrentImpl(const ModelOptions& options)
    : width_(options.width > 0 ? options.width : 128) {
  if (options.vocabulary < 1) {
    throw UsageError("model lstm needs a token stream: a vocabulary");
  }
  const int64_t depth = options.depth > 0 ? options.depth : 2;
  embedding_ = register_module("embedding", nn::Embedding(options.vocabulary, width_));
  dropout_ = register_module("dropout", nn::Dropout(options.dropout));
  lstm_ = register_module("lstm", nn::LSTM(nn::LSTMOptions(width_, width_)
                                               .num_layers(depth)
                                               .dropout(depth > 1 ? options.dropout : 0)
                                               .batch_first(true)));
}

torch::Tensor RecurrentImpl::forward(const torch::Tensor& tokens) {
  const torch::Tensor x = dropout_->forward(embedding_->forward(tokens));
  return dropout_->forward(std::get<0>(lstm_->forward(x)));
}

}  // namespace dlcheck::reference
