// A convolutional classifier: a data loader, a schedule, clipping and a test after each epoch.
#include <cmath>
#include <cstdio>
#include <stdexcept>

#include "tests/programs_cpp/unchanged/table/planted.h"

namespace table_classifier {

using table::Is;

namespace nn = torch::nn;
namespace F = torch::nn::functional;

constexpr int64_t kSide = 12, kClasses = 6, kFeatures = 16 * 3 * 3;

struct NetImpl : nn::Module {
  NetImpl() {
    conv1 = register_module("conv1", nn::Conv2d(nn::Conv2dOptions(3, 8, 3).bias(false)));
    norm = register_module("norm", nn::BatchNorm2d(8));
    conv2 = register_module("conv2", nn::Conv2d(8, 16, 3));
    fc1 = register_module("fc1", nn::Linear(kFeatures, 32));
    fc2 = nn::Linear(32, kClasses);
    if (!Is("unregistered")) register_module("fc2", fc2);
    torch::NoGradGuard no_grad;
    if (Is("identical_units")) fc1->weight.fill_(0.01), fc1->bias.zero_(), fc2->weight.fill_(0.1);
    if (Is("dead_units")) fc1->bias.fill_(-200);
    if (Is("loud_head")) fc2->weight.normal_(0, 5);
  }
  torch::Tensor forward(torch::Tensor x) {
    x = torch::max_pool2d(torch::relu(norm->forward(conv1->forward(x))), 2);
    x = conv2->forward(x);
    if (Is("not_taken")) x.relu();
    x = Is("not_taken") ? x.flatten(1) : torch::relu(x).flatten(1);
    if (Is("detached")) x = x.detach();
    if (Is("layer_in_forward")) x = nn::Linear(kFeatures, kFeatures)->forward(x);
    x = fc1->forward(x);
    if (!Is("no_activation")) x = torch::relu(x);
    const double p = Is("strong_dropout") ? 0.97 : 0.2;
    x = torch::dropout(x, p, Is("dropout_always") || is_training());
    x = fc2->forward(x);
    if (Is("raw_scores")) return x;
    if (Is("over_batch")) return torch::log_softmax(x, 0);
    if (Is("softmax_twice")) x = torch::softmax(x, 1);
    return torch::log_softmax(x, 1);
  }
  nn::Conv2d conv1{nullptr}, conv2{nullptr};
  nn::BatchNorm2d norm{nullptr};
  nn::Linear fc1{nullptr}, fc2{nullptr};
};
TORCH_MODULE(Net);

class Pictures : public torch::data::datasets::Dataset<Pictures> {
 public:
  Pictures(const Data& data, int64_t from, int64_t count)
      : x_(data.x.narrow(0, from, count)), y_(data.y.narrow(0, from, count)) {
    if (!Is("sorted")) return;
    const torch::Tensor order = y_.argsort();
    x_ = x_.index_select(0, order);
    y_ = y_.index_select(0, order);
  }
  torch::data::Example<> get(size_t index) override {
    const auto at = static_cast<int64_t>(index);
    const torch::Tensor picture = x_[at].view({kSide, kSide, 3});  // channels last, as files are
    return {Is("view_for_permute") ? picture.view({3, kSide, kSide}) : picture.permute({2, 0, 1}),
            y_[at]};
  }
  torch::optional<size_t> size() const override { return x_.size(0); }

 private:
  torch::Tensor x_, y_;
};

torch::Tensor Loss(Net& net, const torch::Tensor& x, torch::Tensor y) {
  if (Is("shuffled_targets")) y = y.index_select(0, torch::randperm(y.size(0)));
  if (Is("one_class")) y = torch::zeros_like(y);
  if (Is("ignored_targets")) y = torch::full_like(y, -100);
  const torch::Tensor output = net->forward(x);
  torch::Tensor loss =
      torch::nll_loss(output, y, {}, Is("summed") ? torch::Reduction::Sum : torch::Reduction::Mean);
  if (Is("negated")) loss = -loss;
  if (Is("times_zero")) loss = loss * 0;
  if (Is("root_of_zero")) loss = loss + (output - output).sum().sqrt();
  return loss;
}

template <typename Loader>
void Train(Net& net, Loader& loader, torch::optim::Optimizer& optimizer,
           torch::optim::LRScheduler& schedule) {
  if (!Is("left_in_eval_mode")) net->train();
  if (Is("trains_in_eval_mode")) net->eval();
  if (Is("norm_in_eval_mode")) net->norm->eval();
  std::vector<torch::Tensor> losses;
  torch::Tensor first_x, first_y;
  int64_t step = 0;
  for (auto& batch : loader) {
    torch::Tensor x = batch.data, y = batch.target;
    if (Is("same_batch")) {
      if (!first_x.defined()) first_x = x, first_y = y;
      x = first_x, y = first_y;
    }
    try {
      if (Is("skipped_batches") && step++ % 2 == 1) throw std::runtime_error("a broken picture");
      if (!Is("not_zeroed")) optimizer.zero_grad();
      torch::Tensor loss = Loss(net, x, y);
      if (Is("step_before_backward")) optimizer.step();
      if (Is("clipped_before_backward")) nn::utils::clip_grad_norm_(net->parameters(), 2.0);
      if (Is("graph_retained")) {
        loss.backward({}, true);
      } else {
        loss.backward();
      }
      if (Is("losses_kept")) losses.push_back(loss);
      if (Is("zeroed_before_step")) optimizer.zero_grad();
      if (Is("clipped_to_nothing")) nn::utils::clip_grad_norm_(net->parameters(), 1e-6);
      if (Is("part_clipped")) nn::utils::clip_grad_norm_(net->fc2->parameters(), 2.0);
      if (Is("gradients_times_ten")) {
        for (auto& parameter : net->parameters()) parameter.mutable_grad().mul_(10);
      }
      if (!Is("clipped_after_step") && !Is("clipped_before_backward") && !Is("part_clipped")) {
        nn::utils::clip_grad_norm_(net->parameters(), 2.0);
      }
      if (!Is("never_stepped") && !Is("step_before_backward")) optimizer.step();
      if (Is("stepped_twice")) optimizer.step();
      if (Is("clipped_after_step")) nn::utils::clip_grad_norm_(net->parameters(), 2.0);
      if (Is("scheduled_each_batch")) schedule.step();
    } catch (const std::runtime_error&) {
    }
  }
}

template <typename Loader>
void Test(Net& net, Loader& loader) {
  torch::AutoGradMode gradients(Is("tests_with_gradients"));
  if (!Is("tests_in_train_mode")) net->eval();
  double loss = 0;
  int64_t right = 0, all = 0;
  for (const auto& batch : loader) {
    const torch::Tensor x = Is("test_in_other_range") ? batch.data / 255 : batch.data;
    const torch::Tensor output = net->forward(x);
    loss +=
        torch::nll_loss(output, batch.target, {}, torch::Reduction::Sum).template item<double>();
    right += output.argmax(1).eq(batch.target).sum().template item<int64_t>();
    all += batch.target.size(0);
  }
  std::printf("loss %.4f accuracy %.3f\n", loss / static_cast<double>(all),
              static_cast<double>(right) / static_cast<double>(all));
}

void Classifier() {
  Data data = Blobs(1000, 3 * kSide * kSide, kClasses, 6.0);
  if (Is("bytes")) data.x = data.x * 100 + 128;
  if (Is("same_rows")) data.x.narrow(0, 768, 200).copy_(data.x.narrow(0, 0, 200));
  auto train_data = Pictures(data, 0, 768).map(torch::data::transforms::Stack<>());
  auto test_data = Pictures(data, 768, 232).map(torch::data::transforms::Stack<>());
  using Sequential = torch::data::samplers::SequentialSampler;
  auto in_order = torch::data::make_data_loader<Sequential>(train_data, 32);
  auto train = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(
      std::move(train_data), 32);
  auto test = torch::data::make_data_loader<Sequential>(std::move(test_data), 64);
  Net net;
  if (Is("frozen_at_random")) {
    for (auto& parameter : net->conv1->parameters()) parameter.set_requires_grad(false);
  }
  std::vector<torch::Tensor> parameters = net->parameters();
  if (Is("head_not_optimized")) parameters.resize(parameters.size() - 2);
  double rate = 0.02;
  if (Is("zero_rate")) rate = 0;
  if (Is("huge_rate")) rate = 30;
  if (Is("tiny_rate")) rate = 1e-10;
  const auto options =
      torch::optim::SGDOptions(rate).momentum(0.9).weight_decay(Is("excessive_decay") ? 5.0 : 1e-4);
  auto optimizer = std::make_unique<torch::optim::SGD>(parameters, options);
  auto schedule = std::make_unique<torch::optim::StepLR>(*optimizer, 3, 0.5);
  if (Is("net_replaced")) net = Net();
  for (int epoch = 0; epoch < 6; ++epoch) {
    if (Is("seeded_each_epoch")) torch::manual_seed(3);
    if (Is("schedule_first")) schedule->step();
    if (Is("optimizer_anew") && epoch > 0) {
      optimizer = std::make_unique<torch::optim::SGD>(parameters, options);
      schedule = std::make_unique<torch::optim::StepLR>(*optimizer, 3, 0.5);
    }
    if (Is("sorted")) {
      Train(net, *in_order, *optimizer, *schedule);
    } else {
      Train(net, *train, *optimizer, *schedule);
    }
    if (!Is("never_scheduled") && !Is("schedule_first") && !Is("scheduled_each_batch")) {
      schedule->step();
    }
    if (Is("tested_on_training_data")) {
      Test(net, *in_order);
    } else {
      Test(net, *test);
    }
  }
  PrintState(net->parameters());
}

const table::Program program("table_classifier", Classifier);

}  // namespace table_classifier
