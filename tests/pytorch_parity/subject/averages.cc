// Parameters: `decay`, `equal`, `average_buffers`, `updates`, `exchanged`. Inputs:
// `parameter/NAME`, `buffer/NAME`, `noise` (1000), which moves everything at each update. Puts out
// the averages, and what is live at the end, after an exchange if `exchanged`.
#include "reference/optimization/averaging.h"

#include "tests/pytorch_parity/subject/subject.h"

namespace dlcheck::reference {

void Averages(Case& run) {
  torch::nn::Module module;
  for (const auto& [name, value] : run.Inputs("parameter/")) module.register_parameter(name, value);
  for (const auto& [name, value] : run.Inputs("buffer/")) module.register_buffer(name, value);
  Average::Options options;
  options.decay = run.Number("decay", options.decay);
  options.average_buffers = run.Flag("average_buffers");
  options.is_equal = run.Flag("equal");
  options.deviation = run.Named<AverageDeviation>(
      "deviation", {{"none", AverageDeviation::kNone},
                    {"never_updated", AverageDeviation::kNeverUpdated},
                    {"always_first", AverageDeviation::kAlwaysFirst},
                    {"inverted_decay", AverageDeviation::kInvertedDecay}});
  Average average(module, options);
  const torch::Tensor noise = run.Input("noise");
  const torch::NoGradGuard no_grad;
  for (int64_t update = 0; update < run.Integer("updates", 0); ++update) {
    for (const torch::Tensor& parameter : module.parameters()) parameter.add_(noise[update]);
    for (const torch::Tensor& buffer : module.buffers()) {
      buffer.add_(buffer.is_floating_point() ? noise[update] : torch::ones({}, at::kLong));
    }
    average.Update();
  }
  if (run.Flag("exchanged")) average.Exchange();
  average.VisitState([&](const std::string& name, torch::Tensor& state) { run.Put(name, state); });
  for (const auto& item : module.named_parameters()) run.Put("live/" + item.key(), item.value());
  for (const auto& item : module.named_buffers()) run.Put("live/" + item.key(), item.value());
}

}  // namespace dlcheck::reference
