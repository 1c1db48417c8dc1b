#include "checks/observe/preload/unused_results.h"

#include <string_view>
#include <unordered_set>

#include "checks/observe/preload/call_sites.h"

namespace dlcheck {
namespace {

constexpr int kStepsUnused = 3;      // in which a result has to be thrown away, and never taken
constexpr size_t kMostPlaces = 256;  // that are followed
constexpr double kNotTaken = 2;      // as the check reads it

// The operator's name without its namespace.
std::string_view NameOf(const at::RecordFunction& function) {
  const std::string_view name = function.name();
  return name.substr(name.rfind(':') + 1);
}

// Those that mask: also a mask without a gradient is made to be used.
bool IsMasking(std::string_view name) { return name.substr(0, 6) == "masked"; }

}  // namespace

// Operations that write into a part of a tensor, each of which has a twin that does so in place. A
// view may be made for its shape alone. What relu(), clamp() and dropout() give is often returned
// beside another result, to a caller that leaves it.
bool UnusedResults::IsToBeTaken(const at::RecordFunction& function) {
  static const auto* names = new std::unordered_set<std::string_view>{
      "aten::masked_fill", "aten::masked_scatter", "aten::index_fill",
      "aten::index_copy",  "aten::index_add",      "aten::scatter_add"};
  return names->count(function.name()) > 0;
}

void UnusedResults::Returned(const at::RecordFunction& function) {
  last_.reset();
  if (function.outputs().size() != 1 || !function.outputs()[0].isTensor()) return;
  const at::Tensor& result = function.outputs()[0].toTensor();
  const std::string_view name = NameOf(function);
  if (!result.defined() || !(result.requires_grad() || IsMasking(name))) return;
  const Probe::Site site = CallSite();
  const std::pair<std::string, const char*> key(name, site.file);
  if (places_.size() >= kMostPlaces && places_.count(key) == 0) return;
  Place& place = places_[key];
  if (place.is_settled) return;
  last_ = std::make_unique<Last>(Last{Weak(result.getIntrusivePtr()), std::nullopt,
                                      result.grad_fn(), &place, key.first, site});
  if (result.has_storage()) last_->storage = result.storage().getWeakStorageImpl();
}

void UnusedResults::NextBegins(ProbeRecorder& recorder) {
  if (last_ == nullptr) return;
  const std::unique_ptr<Last> last = std::move(last_);
  Place& place = *last->place;
  // What a function of the program took without an operation still has its node behind it, and what
  // set_data() took has its numbers.
  const bool has_numbers = last->storage.has_value() && !last->storage->expired();
  if (!last->tensor.expired() || !last->node.expired() || has_numbers) {
    place.is_settled = true;
    return;
  }
  const int64_t step = recorder.clock().step();
  if (place.last_step == step) return;
  place.last_step = step;
  if (++place.steps < kStepsUnused) return;
  place.is_settled = true;
  const uint32_t thing = recorder.clock().writer().Thing("statement", 0, last->name);
  recorder.clock().Put(Quantity::kIdleStatement, {thing, 0, recorder.Site(last->site)}, kNotTaken);
}

}  // namespace dlcheck
