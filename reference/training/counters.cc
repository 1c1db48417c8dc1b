#include "reference/training/counters.h"

namespace dlcheck::reference {

void Counters::VisitState(const VisitTensor& visit) {
  for (const auto& [name, number] :
       {std::pair{"step", &step}, std::pair{"micro", &micro}, std::pair{"updates", &updates},
        std::pair{"skipped", &skipped}}) {
    torch::Tensor tensor = torch::tensor(*number);
    visit(name, tensor);
    *number = tensor.item<int64_t>();
  }
  torch::Tensor loss = torch::tensor(window_loss, torch::kFloat64);
  visit("window_loss", loss);
  window_loss = loss.item<double>();
}

// A row an evaluation: step, loss, accuracy.
void Counters::VisitMetrics(const VisitTensor& visit) {
  torch::Tensor table = torch::zeros({static_cast<int64_t>(metrics.size()), 3}, torch::kFloat64);
  auto rows = table.accessor<double, 2>();
  for (int64_t i = 0; i < table.size(0); ++i) {
    const Evaluation& evaluation = metrics[static_cast<size_t>(i)];
    rows[i][0] = static_cast<double>(evaluation.step);
    rows[i][1] = evaluation.loss;
    rows[i][2] = evaluation.accuracy;
  }
  visit("table", table);
  metrics.clear();
  const auto visited = table.accessor<double, 2>();
  for (int64_t i = 0; i < table.size(0); ++i) {
    metrics.push_back({static_cast<int64_t>(visited[i][0]), visited[i][1], visited[i][2]});
  }
}

}  // namespace dlcheck::reference
