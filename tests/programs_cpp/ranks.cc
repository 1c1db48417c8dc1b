// Two processes that train one model by gradients that they put together themselves, over gloo and
// a file. Usage: ranks [FAULT]
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <torch/csrc/distributed/c10d/FileStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

#include "dlcheck/probe.h"
#include "tests/programs_cpp/planted.h"

namespace {

using torch::Tensor;
using Group = c10::intrusive_ptr<c10d::ProcessGroup>;

constexpr int kRanks = 2;
constexpr std::chrono::seconds kPatience{20};

Group Meet(const std::string& file, int rank) {
  using Gloo = c10d::ProcessGroupGloo;
  const auto store = c10::make_intrusive<c10d::FileStore>(file, kRanks);
  const auto options = Gloo::Options::create(kPatience);
  options->devices.push_back(Gloo::createDeviceForHostname("127.0.0.1"));
  auto group = c10::make_intrusive<c10d::ProcessGroup>(store, rank, kRanks);
  group->setBackend(torch::kCPU, c10d::ProcessGroup::BackendType::GLOO,
                    c10::make_intrusive<Gloo>(store, rank, kRanks, options));
  return group;
}

// A copy, as gloo takes what lies in memory without gaps.
void Send(const Group& group, Tensor tensor) {
  std::vector<Tensor> sent = {tensor.detach().clone()};
  group->broadcast(sent)->wait();
  tensor.detach().copy_(sent.front());
}

struct Tagger : torch::nn::Module {
  Tagger() {
    register_module("widen", widen);
    register_module("norm", norm);
    register_module("narrow", narrow);
  }
  Tensor forward(const Tensor& x) {
    return narrow(torch::dropout(torch::relu(norm(widen(x))), 0.2, is_training()));
  }

  torch::nn::Linear widen{16, 32}, narrow{32, 6};
  torch::nn::BatchNorm1d norm{32};
};

class Averaging {
 public:
  Averaging(const Group& group, const Planted& planted, int rank)
      : group_(group), planted_(planted), rank_(rank) {}

  void operator()(const Tagger& model) const {
    std::vector<Tensor> weights = model.parameters();
    if (planted_.Is("head_left_out")) weights.resize(weights.size() - 2);
    if (planted_.Is("other_order") && rank_ == 1) std::swap(weights.front(), weights.back());
    for (const Tensor& weight : weights) {
      std::vector<Tensor> gradient = {weight.grad()};
      group_->allreduce(gradient)->wait();
      gradient.front().div_(kRanks);
    }
  }

 private:
  Group group_;
  const Planted& planted_;
  int rank_;
};

void SendState(const Group& group, const Tagger& model, bool buffers_alone) {
  const torch::NoGradGuard no_grad;
  if (!buffers_alone) {
    for (const Tensor& weight : model.parameters()) Send(group, weight);
  }
  for (const Tensor& buffer : model.buffers()) Send(group, buffer);
}

double Evaluate(Tagger& model, const Samples& held_out, dlcheck::Probe& probe) {
  const torch::NoGradGuard no_grad;
  probe.BeginEvaluation();
  model.eval();
  const Tensor outputs = model.forward(held_out.x);
  probe.EvaluationOutputs(outputs, held_out.y);
  probe.EndEvaluation(torch::cross_entropy_loss(outputs, held_out.y).item<double>(),
                      held_out.size());
  model.train();
  return outputs.argmax(1).eq(held_out.y).to(torch::kDouble).mean().item<double>();
}

int Train(const Planted& planted, const std::string& file, int rank) {
  const Group group = Meet(file, rank);
  torch::manual_seed(planted.Is("own_start") ? 20 + rank : 20);
  const Samples train = Clusters(2048, 1), held_out = Clusters(512, 2);
  Tagger model;
  dlcheck::Probe probe(model);
  probe.Rank(rank, kRanks);
  probe.ReplicaGroup({0, 1});
  if (!planted.Is("own_start")) SendState(group, model, false);
  torch::manual_seed(planted.Is("same_masks") ? 3 : 3 + rank);
  const double rate = planted.Is("own_rate") && rank == 1 ? 0.09 : 0.1;
  auto optimizer = probe.Wrap(torch::optim::SGD(model.parameters(), rate));
  const Averaging average(group, planted, rank);
  auto order = at::make_generator<at::CPUGeneratorImpl>(5);
  double score = 0;
  for (int epoch = 0; epoch < 3; ++epoch) {
    const Tensor shuffled = torch::randperm(train.size(), order);
    const int64_t first = planted.Is("same_rows") ? 0 : rank;
    const Samples own = train.Rows(shuffled.slice(0, first, train.size(), kRanks));
    for (int64_t begin = 0; begin < own.size(); begin += 32) {
      const Samples batch = own.From(begin, 32);
      optimizer.zero_grad();
      probe.Batch(batch.x);
      const Tensor outputs = model.forward(batch.x);
      const Tensor loss = torch::cross_entropy_loss(outputs, batch.y);
      probe.Loss(loss, outputs, batch.y);
      loss.backward();
      average(model);
      optimizer.step();
    }
    if (!planted.Is("own_buffers")) SendState(group, model, true);
    score = Evaluate(model, held_out, probe);
  }
  return rank == 0 ? Report(model, score, score > 0.8) : 0;
}

}  // namespace

int main(int count, char** arguments) {
  const Planted planted(count, arguments);
  char folder[] = "/tmp/dlcheck-ranks-XXXXXX";
  if (mkdtemp(folder) == nullptr) return 1;
  const std::string store = std::string(folder) + "/store";
  const pid_t other = fork();
  const int status = Train(planted, store, other == 0 ? 1 : 0);
  if (other == 0) return status;
  int of_other = 0;
  waitpid(other, &of_other, 0);
  // Not by std::filesystem::remove_all: libtorch.so has one of its own, and that crashes on a
  // folder with something in it.
  unlink(store.c_str());
  rmdir(folder);
  return status != 0 || of_other != 0 ? 1 : 0;
}
