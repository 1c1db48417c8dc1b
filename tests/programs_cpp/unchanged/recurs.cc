// Series of several lengths, filled up with zeros, of which a recurrent network says the kind.
#include <cstdio>

#include "tests/programs_cpp/unchanged/programs.h"

namespace recurs {

namespace nn = torch::nn;

constexpr int64_t kTime = 16, kSeries = 320;

struct ListenerImpl : nn::Module {
  ListenerImpl() {
    register_module("hears", hears);
    register_module("head", head);
  }
  torch::Tensor forward(const torch::Tensor& x, const Arguments& arguments) {
    const bool is_kept =
        arguments.Is("state_kept") && state.defined() && state.size(1) == x.size(0);
    const auto [heard, ended] = hears(x, is_kept ? state : torch::Tensor());
    state = ended.detach();
    if (arguments.Is("reads_filling")) return head(heard.select(1, kTime - 1));
    if (arguments.Is("reads_state")) return head(ended[0]);
    const torch::Tensor lengths = x.ne(0).any(-1).sum(1) - 1;
    const torch::Tensor places = lengths.view({-1, 1, 1}).expand({-1, 1, heard.size(2)});
    return head(heard.gather(1, places).squeeze(1));
  }
  nn::GRU hears{nn::GRUOptions(3, 24).batch_first(true)};
  nn::Linear head{24, 3};
  torch::Tensor state;
};
TORCH_MODULE(Listener);

class Series : public torch::data::datasets::Dataset<Series> {
 public:
  Series() {
    y_ = torch::randint(3, {kSeries}, torch::kLong);
    const torch::Tensor places = torch::arange(kTime).unsqueeze(0);
    const torch::Tensor pace = (y_ + 1).to(torch::kFloat).unsqueeze(1);
    const torch::Tensor lengths = torch::randint(8, kTime + 1, {kSeries, 1}, torch::kLong);
    x_ = torch::sin(0.4 * pace * places).unsqueeze(2) + 0.5 * torch::randn({kSeries, kTime, 3});
    x_ = x_.masked_fill(places.ge(lengths).unsqueeze(2), 0);
  }
  torch::data::Example<> get(size_t index) override {
    return {x_[static_cast<int64_t>(index)], y_[static_cast<int64_t>(index)]};
  }
  torch::optional<size_t> size() const override { return kSeries; }

 private:
  torch::Tensor x_, y_;
};

void Listens(const Arguments& arguments) {
  auto loader = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(
      Series().map(torch::data::transforms::Stack<>()), 32);
  Listener net;
  torch::optim::Adam optimizer(net->parameters(), torch::optim::AdamOptions(5e-3));
  double last = 0;
  for (int epoch = 0; epoch < 8; ++epoch) {
    for (auto& batch : *loader) {
      const torch::Tensor loss =
          torch::cross_entropy_loss(net->forward(batch.data, arguments), batch.target);
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      last = loss.item<double>();
    }
  }
  std::printf("loss %.4f\n", last);
  PrintState(net->parameters());
}

const Registered registered("listens", Listens);

}  // namespace recurs
