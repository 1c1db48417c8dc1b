// What the C++ lines of the checks take for granted: names as a training program has them. Nothing
// here is defined; the lines are compiled and never run.
#pragma once

#include <ATen/CPUGeneratorImpl.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

namespace nn = torch::nn;
namespace F = torch::nn::functional;
using torch::optim::AdamW;
using torch::optim::AdamWOptions;

struct NetImpl : nn::Module {
  torch::Tensor forward(torch::Tensor input);
  nn::Linear head{1, 1}, backbone{1, 1}, fc{1, 1};
};
TORCH_MODULE(Net);
struct BlockImpl : nn::Module {
  explicit BlockImpl(int64_t width = 1);
};
TORCH_MODULE(Block);
using ResNet = Net;

using Rows = torch::data::datasets::MapDataset<torch::data::datasets::MNIST,
                                               torch::data::transforms::Stack<>>;
using Loader =
    std::unique_ptr<torch::data::StatelessDataLoader<Rows, torch::data::samplers::RandomSampler>>;
using Example = torch::data::Example<>;

// Functions of the program.
template <typename... Given>
torch::Tensor TrainStep(Given&&...);
template <typename... Given>
void TrainOneEpoch(Given&&...);
template <typename... Given>
double Evaluate(Given&&...);
template <typename... Given>
double Validate(Given&&...);
torch::Tensor train_step(Net model, const Example& batch);
Example NextBatch();
torch::Tensor Majority(torch::Tensor targets, torch::Tensor index);
std::vector<std::string> Glob(const std::string& pattern);
torch::Tensor Augment(torch::Tensor images, int64_t seed);
torch::Tensor RandomCrop(torch::Tensor images, int64_t size);
torch::Tensor CenterCrop(torch::Tensor images, int64_t size);
std::vector<int64_t> NumbersOf(const std::vector<std::string>& names);
int64_t Correct(torch::Tensor outputs, torch::Tensor targets);
void Show(torch::Tensor images);
torch::Tensor LogProb(Net policy, torch::Tensor states, torch::Tensor actions);
torch::Tensor Sample(Net policy);
template <typename First, typename Second>
std::vector<torch::Tensor> Joined(First first, Second second);

// A module in whose functions the lines stand.
struct Host : nn::Module {
  torch::Tensor criterion(torch::Tensor outputs, torch::Tensor targets);
  torch::Tensor bce(torch::Tensor outputs, torch::Tensor targets);
  double schedule(int64_t update);

  Net model, net, decoder, generator, teacher, critic, policy, denoiser, D, G, trunk, head_a,
      head_b;
  nn::TransformerEncoder encoder{nullptr};
  nn::Linear head{1, 1}, hidden{1, 1}, fc1{1, 1}, fc2{1, 1};
  nn::Conv2d conv{nullptr};
  nn::BatchNorm2d norm{nullptr};
  nn::Embedding embed{1, 1}, words{1, 1}, places{1, 1}, embedding{1, 1};
  nn::GRU rnn{1, 1};
  nn::LSTM lstm{1, 1};
  nn::ModuleList blocks;
  Block block;
  std::vector<nn::Linear> layers;

  torch::optim::SGD optimizer, opt_d, opt_g;
  torch::optim::SGDOptions options;
  torch::optim::OptimizerParamGroup group;
  torch::optim::StepLR scheduler;
  Loader loader, train_loader, val_loader, test_loader, shuffled_loader;
  Rows dataset, test_data;
  std::vector<Example> micro_batches, tasks;
  Example batch;
  torch::OrderedDict<std::string, torch::Tensor> saved, parameters;

  torch::Tensor x, y, loss, q, k, v, scores, is_hidden, tokens, ids, is_padding, state, out, counts;
  torch::Tensor logits, mask, image, images, labels, series, rows, mean, deviation, grades, h, a, b;
  torch::Tensor a_label, b_label, x_val, y_val, x_train, train_images, test_images, test_labels;
  torch::Tensor user, item, real, fake, one, zero, loss_a, loss_b, exp_avg, exp_avg_sq, grad, seen;
  torch::Tensor returns, states, actions, log_prob, old, advantage, reward, next_state, action;
  torch::Tensor mu, logvar, reconstruction, partner, order, losses, same, distance, positive,
      lengths;
  std::vector<torch::Tensor> texts, best_weights;
  std::vector<std::string> names;
  std::vector<int64_t> shape;
  int64_t length, pad, max_length, prompt_length, end_of_text, step, steps, i, batch_size, batches,
      n;
  int64_t latent, correct, epochs, epoch, patience, best_epoch, parts, users, items, targets;
  int64_t updates, replicas, rank, size, heads_, width, vocabulary;
  torch::Tensor running;
  double accuracy, best, lr, weight_decay, beta1, beta2, gamma;
};
