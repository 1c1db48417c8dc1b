#include "checks/observe/preload/embedded_rows.h"

namespace dlcheck {
namespace {

constexpr int64_t kFewestRows = 4;  // a table of fewer may have kinds that a program never uses
constexpr int kFewestCalls = 8;

}  // namespace

void EmbeddedRows::Saw(const at::Tensor& weight, const at::Tensor& rows, ProbeRecorder& recorder) {
  if (!weight.defined() || !rows.defined() || rows.numel() == 0 || !rows.device().is_cpu()) return;
  const ProbeModels::Parameter* parameter = recorder.models().Find(weight);
  if (parameter == nullptr || weight.dim() != 2 || weight.size(0) < kFewestRows) return;
  Asked& asked = asked_[parameter->module_thing];
  if (asked.is_settled) return;
  const auto least = rows.min().item<int64_t>(), most = rows.max().item<int64_t>();
  asked.is_settled = least != most || (asked.calls > 0 && asked.row != least);
  asked.row = least;
  if (asked.is_settled || ++asked.calls < kFewestCalls) return;
  recorder.clock().Put(Quantity::kOnlyRow, {parameter->module_thing}, static_cast<double>(least),
                       static_cast<double>(weight.size(0)));
}

}  // namespace dlcheck
