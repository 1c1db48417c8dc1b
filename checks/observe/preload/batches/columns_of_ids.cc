#include "checks/observe/preload/batches/columns_of_ids.h"

#include <algorithm>

#include "checks/observe/preload/call_sites.h"
#include "checks/observe/preload/losses/loss_given.h"

namespace dlcheck {
namespace {

constexpr int64_t kMostColumns = 16,
                  kRowsOfEach = 4;  // times as many numbers as the table has rows
constexpr int kStepsOfColumns = 8;
// Share of the table that the kinds need; how far the largest numbers of two kinds differ.
constexpr double kLeastFilled = 0.9, kUnlikeKinds = 1.1;

}  // namespace

void ColumnsOfIds::Saw(const at::Tensor& weight, const at::Tensor& rows, ProbeRecorder& recorder) {
  if (!weight.defined() || weight.dim() != 2 || !IsAtHand(rows)) return;
  const ProbeModels::Parameter* parameter = recorder.models().Find(weight);
  if (parameter == nullptr) return;
  Asked& asked = asked_[parameter->module_thing];
  if (asked.is_settled) return;
  const int64_t step = recorder.clock().step();
  if (asked.step != step) {
    asked.step = step;
    asked.next = 0;
    ++asked.steps;
  }
  const at::Tensor wide = rows.dim() == 2 ? rows : rows.reshape({-1, 1});
  asked.is_settled = rows.dim() > 2 || rows.numel() == 0 ||
                     static_cast<int64_t>(asked.next) + wide.size(1) > kMostColumns;
  if (asked.is_settled) return;
  Add(asked, wide);
  const auto fewest = std::min_element(
      asked.columns.begin(), asked.columns.end(),
      [](const Column& one, const Column& other) { return one.count < other.count; });
  if (asked.steps < kStepsOfColumns || fewest->count < kRowsOfEach * weight.size(0)) return;
  asked.is_settled = true;
  if (!ShareRows(asked, weight.size(0))) return;
  recorder.clock().Put(
      Quantity::kSharedRows, {parameter->module_thing, 0, recorder.Site(CallSite())},
      static_cast<double>(asked.columns.size()), static_cast<double>(weight.size(0)));
}

void ColumnsOfIds::Add(Asked& asked, const at::Tensor& wide) {
  const at::Tensor least = wide.amin({0}), largest = wide.amax({0});
  for (int64_t i = 0; i < wide.size(1); ++i, ++asked.next) {
    const Column now = {least[i].item<int64_t>(), largest[i].item<int64_t>(), wide.size(0)};
    if (asked.next == asked.columns.size()) {
      asked.columns.push_back(now);
      continue;
    }
    Column& column = asked.columns[asked.next];
    column.least = std::min(column.least, now.least);
    column.largest = std::max(column.largest, now.largest);
    column.count += now.count;
  }
}

// All kinds begin at 0 and together need the table, of which they use no more than the largest.
bool ColumnsOfIds::ShareRows(const Asked& asked, int64_t rows) {
  if (asked.columns.size() < 2) return false;
  int64_t needed = 0, largest = 0, least = asked.columns.front().largest;
  for (const Column& column : asked.columns) {
    needed += column.largest + 1;
    largest = std::max(largest, column.largest);
    least = std::min(least, column.largest);
    const auto bound = static_cast<double>(column.largest + 1) * (1 - kLeastFilled);
    if (static_cast<double>(column.least) > bound) return false;
  }
  const bool are_unlike =
      static_cast<double>(largest) >= kUnlikeKinds * (static_cast<double>(least) + 1);
  return are_unlike && needed <= rows &&
         static_cast<double>(needed) >= kLeastFilled * static_cast<double>(rows);
}

}  // namespace dlcheck
