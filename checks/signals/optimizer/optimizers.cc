#include "checks/signals/optimizer/optimizers.h"

#include <algorithm>
#include <array>

namespace dlcheck {
namespace {

constexpr std::array<std::string_view, 8> kAdaptive = {"Adam",  "AdamW", "Adamax",     "Adagrad",
                                                       "NAdam", "RAdam", "SparseAdam", "RMSprop"};
constexpr std::array<std::string_view, 6> kOther = {"SGD",   "ASGD",      "Adadelta",
                                                    "LBFGS", "Adafactor", "Rprop"};

// `kind`: "defaults" or "copy" in C++, empty in Python.
std::string PlaceOfRate(const std::string& name, std::string_view kind) {
  if (kind == "defaults") return name + ".defaults()";
  return kind == "copy" ? "a copy of the options of " + name : name + ".lr";
}

}  // namespace

bool Optimizers::Optimizer::is_adaptive() const { return std::ranges::count(kAdaptive, type) > 0; }

bool Optimizers::Optimizer::is_plain() const {
  return is_adaptive() || std::ranges::count(kOther, type) > 0;
}

bool Optimizers::IsPlain(int ordinal) const {
  const auto found = optimizers.find(ordinal);
  return found != optimizers.end() && found->second.is_plain();
}

absl::StatusOr<Optimizers> Optimizers::From(const Run& run) {
  const Trace& trace = run.trace;
  Optimizers result;
  for (const Occurrence& event : trace.Events()) {
    if (event.event != Event::kStep || event.gap || event.thing == 0) continue;
    Optimizer& optimizer = result.optimizers[trace.thing(event.thing).ordinal];
    if (!optimizer.name.empty()) continue;
    optimizer.name = trace.Display(event.thing);
    optimizer.type = std::string(trace.Attribute(event.thing, "type"));
    optimizer.rate_beside = std::string(trace.Attribute(event.thing, "rate_beside"));
    optimizer.rate_place =
        PlaceOfRate(optimizer.name, trace.Attribute(event.thing, "rate_beside_in"));
  }
  if (result.optimizers.empty()) return absl::NotFoundError("no optimizer step was observed");
  return result;
}

}  // namespace dlcheck
