#include "checks/signals/checkpoint/saves.h"

#include <algorithm>
#include <map>
#include <utility>

#include "checks/signals/run/first_process.h"
#include "checks/signals/run/not_told.h"

namespace dlcheck {
namespace {

using Digest = std::pair<double, double>;

struct Part {
  uint64_t order;
  int64_t step;
  bool stored;  // else as it was in memory
  std::string name;
  Digest digest;
};

std::vector<Part> PartsInOrder(const Trace& trace) {
  std::vector<Part> parts;
  for (const Quantity quantity : {Quantity::kSavedDigest, Quantity::kStoredDigest}) {
    for (const ThingId id : trace.ThingsWith(quantity)) {
      for (const Sample& sample : FirstProcess(trace.Series(quantity, id))) {
        parts.push_back({sample.order,
                         sample.step,
                         quantity == Quantity::kStoredDigest,
                         trace.thing(id).name,
                         {sample.value, sample.aux}});
      }
    }
  }
  std::sort(parts.begin(), parts.end(),
            [](const Part& a, const Part& b) { return a.order < b.order; });
  return parts;
}

Saves::Save Compare(int64_t step, const std::map<std::string, Digest>& saved,
                    const std::map<std::string, Digest>& stored) {
  Saves::Save save{step, static_cast<int64_t>(saved.size()), {}, {}};
  for (const auto& [name, digest] : saved) {
    const auto found = stored.find(name);
    if (found == stored.end()) {
      save.missing.push_back(name);
    } else if (found->second != digest) {
      save.changed.push_back(name);
    }
  }
  return save;
}

}  // namespace

absl::StatusOr<Saves> Saves::From(const Run& run) {
  const std::vector<Part> parts = PartsInOrder(run.trace);
  Saves saves;
  // Each save is all parts of memory, then all parts of the file.
  for (size_t i = 0; i < parts.size();) {
    const int64_t step = parts[i].step;
    std::map<std::string, Digest> saved, stored;
    for (; i < parts.size() && !parts[i].stored && parts[i].step == step; ++i) {
      saved[parts[i].name] = parts[i].digest;
    }
    for (; i < parts.size() && parts[i].stored && parts[i].step == step; ++i) {
      stored[parts[i].name] = parts[i].digest;
    }
    if (!saved.empty() && !stored.empty()) saves.saves.push_back(Compare(step, saved, stored));
  }
  if (saves.saves.empty()) return absl::NotFoundError(kNotTold);
  return saves;
}

}  // namespace dlcheck
