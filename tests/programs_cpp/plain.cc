// Everything in one function: SGD with momentum over windows of two micro-batches, clipped, with a
// rate that falls step by step. Usage: plain [FAULT]
#include "dlcheck/probe.h"
#include "tests/programs_cpp/planted.h"

namespace F = torch::nn::functional;

int main(int count, char** arguments) {
  const Planted planted(count, arguments);
  torch::manual_seed(3);
  const Samples train = Clusters(1024, 1), held_out = Clusters(256, 2);
  torch::nn::Sequential net(torch::nn::Linear(16, 32), torch::nn::ReLU(), torch::nn::Dropout(0.1),
                            torch::nn::Linear(32, 6));
  dlcheck::Probe probe(*net);
  probe.Seeded(3);
  std::vector<torch::Tensor> weights = net->parameters();
  if (planted.Is("head_not_optimized")) weights.resize(2);
  const auto made = [&] {
    return probe.Wrap(torch::optim::SGD(weights, torch::optim::SGDOptions(0.1).momentum(0.9)));
  };
  auto sgd = std::make_unique<decltype(made())>(made());
  torch::optim::StepLR schedule(sgd->inner(), 20, 0.7);
  probe.RegisterScheduler(sgd->number());
  const auto move_schedule = [&] {
    schedule.step();
    probe.SchedulerStepped(sgd->param_groups()[0].options().get_lr());
  };
  double accuracy = 0;
  for (int64_t step = 0; step < 200; ++step) {
    if (planted.Is("rebuilt") && step > 0) sgd = std::make_unique<decltype(made())>(made());
    if (!planted.Is("uncleared")) sgd->zero_grad();
    for (int micro = 0; micro < 2; ++micro) {
      const Samples batch = train.Rows(torch::randint(train.size(), {32}, torch::kLong));
      probe.Batch(batch.x);
      torch::Tensor logits = net->forward(batch.x);
      if (planted.Is("doubled_softmax")) logits = logits.softmax(1);
      torch::Tensor loss = F::cross_entropy(logits, batch.y);
      if (!planted.Is("not_divided")) loss = loss / 2;
      if (planted.Is("divided_twice")) loss = loss / 2;
      probe.Loss(loss, logits, batch.y);
      loss.backward({}, /*retain_graph=*/planted.Is("retained"));
      if (planted.Is("cleared_in_window")) sgd->zero_grad();
    }
    const auto clip = [&] {
      torch::nn::utils::clip_grad_norm_(net->parameters(), 1.0);
      probe.Clip(1.0);
    };
    if (!planted.Is("clipped_late")) clip();
    if (planted.Is("cleared_before_step")) sgd->zero_grad();
    if (planted.Is("scheduled_first")) move_schedule();
    sgd->step();
    if (planted.Is("clipped_late")) clip();
    if (!planted.Is("scheduled_first") && !planted.Is("never_scheduled") &&
        !planted.Is("rebuilt")) {
      move_schedule();
    }
    if (step % 40 != 39) continue;
    probe.BeginEvaluation();
    if (!planted.Is("evaluated_in_training")) {
      net->eval();
      probe.SetTraining(false);
    }
    torch::AutoGradMode gradients(planted.Is("evaluated_with_gradients"));
    double right = 0, sum = 0;
    for (int64_t begin = 0; begin < held_out.size(); begin += 64) {
      const Samples batch = held_out.From(begin, 64);
      const torch::Tensor logits = net->forward(batch.x);
      probe.EvaluationOutputs(logits, batch.y);
      sum += F::cross_entropy(logits, batch.y).item<double>() * static_cast<double>(batch.size());
      right += logits.argmax(1).eq(batch.y).sum().item<double>();
    }
    probe.EndEvaluation(sum / static_cast<double>(held_out.size()), held_out.size());
    accuracy = right / static_cast<double>(held_out.size());
    if (planted.Is("left_in_evaluation")) continue;
    net->train();
    probe.SetTraining(true);
  }
  dlcheck::Probe::NamedTensors state, stored;
  for (const auto& item : net->named_parameters()) {
    state.emplace_back("net/" + item.key(), item.value().detach());
    if (!planted.Is("biases_not_saved") || item.value().dim() > 1) stored.push_back(state.back());
  }
  probe.Saved("net.pt", state, stored);
  return Report(*net, accuracy, accuracy > 0.9);
}
