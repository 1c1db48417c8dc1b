// A classifier of rows that saves after each epoch, starts again from its files and goes on; the
// best epoch of a validation is kept.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "tests/programs_cpp/unchanged/table/planted.h"

namespace table_resumed {

using table::Is;

namespace nn = torch::nn;
namespace F = torch::nn::functional;

constexpr int64_t kFeatures = 16, kClasses = 5, kBatch = 40, kRows = 800;

struct NetImpl : nn::Module {
  NetImpl() {
    first = register_module("first", nn::Linear(kFeatures, 48));
    norm = register_module("norm", nn::LayerNorm(nn::LayerNormOptions({48})));
    drop = register_module("drop", nn::Dropout(Is("strong_dropout") ? 0.97 : 0.1));
    second = register_module("second", nn::Linear(48, 48));
    head = nn::Linear(48, kClasses + (Is("spare_classes") ? 4 : 0));
    if (!Is("unregistered")) register_module("head", head);
    torch::NoGradGuard no_grad;
    if (Is("identical_units"))
      second->weight.fill_(0.02), second->bias.zero_(), head->weight.fill_(0.1);
    if (Is("dead_units")) second->bias.fill_(-300);
    if (Is("loud_head")) head->weight.normal_(0, 6);
  }
  torch::Tensor forward(torch::Tensor x) {
    x = torch::relu(norm->forward(first->forward(x)));
    if (Is("detached")) x = x.detach();
    x = second->forward(x);
    if (!Is("no_activation")) x = torch::relu(x);
    x = drop->forward(x);
    if (Is("dropout_always")) x = F::dropout(x, F::DropoutFuncOptions().p(0.2).training(true));
    x = head->forward(x);
    if (Is("softmax_twice")) return torch::softmax(x, 1);
    if (Is("over_batch")) return torch::log_softmax(x, 0);
    return x;
  }
  nn::Linear first{nullptr}, second{nullptr}, head{nullptr};
  nn::LayerNorm norm{nullptr};
  nn::Dropout drop{nullptr};
};
TORCH_MODULE(Net);

std::string File(const char* name) {
  const char* set = std::getenv("TMPDIR");
  return std::string(set == nullptr ? "/tmp" : set) + "/" + name;
}

torch::Tensor Loss(Net& net, const torch::Tensor& x, torch::Tensor y) {
  const torch::Tensor output = net->forward(x);
  if (Is("shuffled_targets")) y = y.index_select(0, torch::randperm(y.size(0)));
  if (Is("ignored_targets")) y = torch::full_like(y, -100);
  if (Is("raw_scores")) return F::nll_loss(output, y);
  if (Is("row_of_numbers")) {
    return F::cross_entropy(output, y) + (output.narrow(1, 0, 1) - y).square().mean();
  }
  auto options = F::CrossEntropyFuncOptions();
  if (Is("summed")) options.reduction(torch::kSum);
  torch::Tensor loss = F::cross_entropy(output, y, options);
  if (Is("item_lost")) loss = torch::tensor(loss.item<float>()).requires_grad_();
  if (Is("times_zero")) loss = loss * 0;
  return Is("negated") ? -loss : loss;
}

struct State {
  Net net;
  std::unique_ptr<torch::optim::Adam> optimizer;
  std::unique_ptr<torch::optim::StepLR> schedule;
  double best = -1;
};

double Rate() {
  if (Is("zero_rate")) return 0;
  if (Is("huge_rate")) return 8;
  return Is("tiny_rate") ? 1e-12 : 2e-3;
}

void BuildOptimizer(State& state) {
  std::vector<torch::Tensor> parameters = state.net->parameters();
  if (Is("head_not_optimized")) parameters.resize(parameters.size() - 2);
  auto options = torch::optim::AdamOptions(Rate()).weight_decay(Is("decay_of_fifty") ? 50 : 1e-4);
  if (Is("epsilon_of_one")) options.eps(1);
  state.optimizer = std::make_unique<torch::optim::Adam>(parameters, options);
  state.schedule = std::make_unique<torch::optim::StepLR>(*state.optimizer, 2, 0.7);
}

void Step(State& state, const torch::Tensor& x, const torch::Tensor& y) {
  Net& net = state.net;
  if (!Is("not_zeroed")) state.optimizer->zero_grad();
  const torch::Tensor loss = Loss(net, x, y);
  if (Is("step_before_backward")) state.optimizer->step();
  if (Is("clipped_before_backward")) nn::utils::clip_grad_norm_(net->parameters(), 1.0);
  if (Is("graph_retained")) {
    loss.backward({}, true);
  } else {
    loss.backward();
  }
  if (Is("zeroed_before_step")) state.optimizer->zero_grad();
  if (Is("clipped_to_nothing")) nn::utils::clip_grad_norm_(net->parameters(), 1e-7);
  if (Is("clipped_by_value")) nn::utils::clip_grad_value_(net->parameters(), 1e-4);
  if (Is("never_clipped")) nn::utils::clip_grad_norm_(net->parameters(), 1e6);
  if (Is("gradients_times_ten")) {
    for (auto& parameter : net->parameters()) parameter.mutable_grad().mul_(10);
  }
  if (!Is("never_stepped") && !Is("step_before_backward")) state.optimizer->step();
  if (Is("stepped_twice")) state.optimizer->step();
  if (Is("clipped_after_step")) nn::utils::clip_grad_norm_(net->parameters(), 1.0);
}

void Validate(State& state, const Data& data) {
  torch::AutoGradMode gradients(Is("tests_with_gradients"));
  if (!Is("tests_in_train_mode")) state.net->eval();
  double mean = 0;
  int64_t batches = 0, right = 0;
  for (int64_t at = 0; at < data.x.size(0); at += 64, ++batches) {
    const torch::Tensor x = data.x.slice(0, at, at + 64), y = data.y.slice(0, at, at + 64);
    const torch::Tensor output = state.net->forward(x);
    mean += F::cross_entropy(output, y).item<double>() * static_cast<double>(y.size(0));
    right += output.argmax(1).eq(y).sum().item<int64_t>();
  }
  std::printf("loss %.3f accuracy %.3f\n", mean / static_cast<double>(data.x.size(0)),
              static_cast<double>(right) / static_cast<double>(data.x.size(0)));
  const double score = static_cast<double>(right);
  if (Is("worst_kept") ? state.best < 0 || score < state.best : score > state.best) {
    state.best = score;
    torch::save(state.net, File("best.pt"));
  }
}

void Epochs(State& state, const Data& train, const Data& held_out, int from, int to) {
  torch::Tensor order = torch::randperm(kRows);
  std::vector<torch::Tensor> losses;
  for (int epoch = from; epoch < to; ++epoch) {
    if (!Is("left_in_eval_mode")) state.net->train();
    if (Is("trains_in_eval_mode")) state.net->eval();
    if (Is("seeded_each_epoch")) torch::manual_seed(5);
    if (Is("optimizer_anew")) BuildOptimizer(state);
    if (!Is("shuffled_once")) order = torch::randperm(kRows);
    if (Is("sorted")) order = train.y.argsort();
    for (int64_t at = 0; at < kRows; at += kBatch) {
      const torch::Tensor rows = order.narrow(0, Is("same_batch") ? 0 : at, kBatch);
      torch::Tensor x = train.x.index_select(0, rows);
      if (Is("training_in_other_range")) x = x / 255;
      Step(state, x, train.y.index_select(0, rows));
      if (Is("losses_kept")) losses.push_back(Loss(state.net, x, train.y.index_select(0, rows)));
      if (Is("scheduled_each_step")) state.schedule->step();
    }
    if (!Is("never_scheduled") && !Is("scheduled_each_step")) state.schedule->step();
    if (!Is("never_validated")) Validate(state, held_out);
  }
  torch::save(state.net, File("net.pt"));
  torch::save(*state.optimizer, File("optimizer.pt"));
}

void Resumed() {
  Data train = Blobs(kRows, kFeatures, kClasses, 3.0),
       held_out = Blobs(250, kFeatures, kClasses, 3.0);
  if (Is("bytes")) {
    train.x = train.x * 60 + 128;
    held_out.x = held_out.x * 60 + 128;
  }
  if (Is("same_rows")) held_out = {train.x.narrow(0, 0, 250), train.y.narrow(0, 0, 250)};
  {
    State state;
    if (Is("frozen_at_random")) state.net->first->weight.set_requires_grad(false);
    BuildOptimizer(state);
    Epochs(state, train, held_out, 0, 4);
  }
  State state;
  if (!Is("net_not_loaded")) torch::load(state.net, File("net.pt"));
  if (Is("built_before_loading"))
    BuildOptimizer(state), state.net = Net(), torch::load(state.net, File("net.pt"));
  if (!Is("built_before_loading")) BuildOptimizer(state);
  if (!Is("optimizer_not_loaded")) torch::load(*state.optimizer, File("optimizer.pt"));
  if (Is("weights_drawn_after_loading"))
    torch::nn::init::xavier_uniform_(state.net->second->weight);
  if (Is("frozen_at_random")) state.net->first->weight.set_requires_grad(false);
  Epochs(state, train, held_out, 4, 8);
  PrintState(state.net->parameters());
}

const table::Program program("table_resumed", Resumed);

}  // namespace table_resumed
