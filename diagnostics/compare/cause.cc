#include "diagnostics/compare/cause.h"

#include <algorithm>
#include <set>

#include "checks/engine/text.h"

namespace dlcheck {
namespace {

constexpr double kRounding = 1e-4;  // largest relative difference that rounding alone explains

bool IsOfSeed(const Facts& a, const Facts& b) {
  return a.seeds != b.seeds || (a.seeds.empty() && b.seeds.empty());
}

Reason OfSeed(const Facts& a, const Facts& b) {
  if (a.seeds.empty() && b.seeds.empty()) {
    return {Origin::kSeed, "Neither run set a seed before its first step."};
  }
  const auto shown = [](const Facts& facts) {
    return facts.seeds.empty() ? std::string("no seed") : Listed(facts.seeds);
  };
  return {Origin::kSeed, StrCat("A set ", shown(a), " as its seed, B ", shown(b), ".")};
}

bool SamePrecision(const Facts& a, const Facts& b) {
  return a.autocast == b.autocast && a.dtypes == b.dtypes;
}

Reason OfPrecision(const Facts& a, const Facts& b) {
  if (a.dtypes != b.dtypes) {
    return {Origin::kPrecision,
            StrCat("The parameters of A are ", a.dtypes, ", those of B ", b.dtypes, ".")};
  }
  return {Origin::kPrecision,
          StrCat("Products in low precision: A ", a.autocast, ", B ", b.autocast, ".")};
}

std::string UnequalMachine(const Facts& a, const Facts& b) {
  std::vector<std::string> names;
  if (a.torch != b.torch) names.emplace_back("torch");
  if (!a.machine.empty() && !b.machine.empty() && a.machine != b.machine) {
    names.emplace_back("the processor");
  }
  if (!a.threads.empty() && !b.threads.empty() && a.threads != b.threads) {
    names.emplace_back("the number of threads");
  }
  if (!a.devices.empty() && !b.devices.empty() && a.devices != b.devices) {
    names.emplace_back("the device");
  }
  return names.empty() ? "" : Listed(names, names.size());
}

Reason OfRounding(const Difference& difference, const Facts& a, const Facts& b) {
  const std::string size =
      StrCat("They differ by ", Short(difference.relative), " of their size, as rounding does.");
  const std::string machine = UnequalMachine(a, b);
  if (!machine.empty()) {
    return {Origin::kMachine, StrCat(size, " Unequal in the two runs: ", machine, ".")};
  }
  if (!a.source.empty() && !b.source.empty() && a.source != b.source) {
    return {Origin::kCode, StrCat(size, " The source of the program is not the same.")};
  }
  return {Origin::kMachine,
          StrCat(size, " Operations that are not deterministic, or another order of a sum.")};
}

Reason OfCode(const Facts& a, const Facts& b, const std::string& what) {
  const bool differs = !a.source.empty() && !b.source.empty() && a.source != b.source;
  return {Origin::kCode,
          StrCat(what, differs ? " The source of the program is not the same." : "")};
}

Reason OfState(const std::string& what) {
  return {Origin::kState, StrCat("B went on from a file, and ", what)};
}

// The difference may have begun in the step before, after what was recorded of it.
Reason OfPartlyRecorded(const Difference& difference) {
  const int64_t before = std::max<int64_t>(0, difference.step_a - 1);
  std::string text = StrCat("Only the loss of this step was recorded. Run both again with ",
                            "--record-steps ", before, ":", difference.step_a);
  if (difference.step_a != difference.step_b) {
    StrAppend(&text, " for A and ", std::max<int64_t>(0, difference.step_b - 1), ":",
              difference.step_b, " for B");
  }
  return {Origin::kUnknown, text + " to see where it begins."};
}

Reason OfForward(const Difference& difference, const Facts& a, const Facts& b) {
  if (a.loads != b.loads) {
    return OfState(difference.step_b == 0
                       ? "its first loss is not the one that A had: other weights, mode or random "
                         "numbers."
                       : "its first loss is the one that A had, a later one is not: other state of "
                         "the optimizer, the schedule or the random numbers.");
  }
  if (!difference.data_compared) return OfPartlyRecorded(difference);
  if (!SamePrecision(a, b)) return OfPrecision(a, b);
  if (difference.count_a != difference.count_b) {
    return OfCode(a, b,
                  StrCat("A step of A has ",
                         Counted(static_cast<int64_t>(difference.count_a), "backward call"),
                         ", one of B ", difference.count_b, "."));
  }
  if (difference.relative <= kRounding) return OfRounding(difference, a, b);
  if (a.source == b.source && IsOfSeed(a, b)) return OfSeed(a, b);
  return OfCode(a, b, "The same data and weights give another loss.");
}

}  // namespace

std::string_view OriginName(Origin origin) {
  switch (origin) {
    case Origin::kSeed:
      return "seed";
    case Origin::kData:
      return "data";
    case Origin::kDataOrder:
      return "order of the data";
    case Origin::kCode:
      return "code";
    case Origin::kSetting:
      return "setting";
    case Origin::kMachine:
      return "machine";
    case Origin::kPrecision:
      return "precision";
    case Origin::kState:
      return "state that was not restored";
    case Origin::kUnknown:
      break;
  }
  return "unknown";
}

bool SharesBatches(const Measured& a, const Measured& b, int64_t offset) {
  using Batch = std::pair<double, double>;
  const auto batches = [](const Measured& run) {
    std::map<int64_t, std::set<Batch>> found;
    for (const Measured::Entry& entry : run.Of(Stage::kData)) {
      if (!IsDigest(run.KeyOf(entry).names.quantity)) continue;
      found[entry.step].emplace(entry.value.value, entry.value.aux);
    }
    return found;
  };
  const auto of_a = batches(a);
  std::set<Batch> all;
  for (const auto& [step, some] : of_a) all.insert(some.begin(), some.end());
  for (const auto& [step, some] : batches(b)) {
    const auto same_step = of_a.find(step + offset);
    for (const Batch& batch : some) {
      const bool here = same_step != of_a.end() && same_step->second.contains(batch);
      if (!here && all.contains(batch)) return true;
    }
  }
  return false;
}

Reason ReasonFor(const Difference& difference, const Facts& a, const Facts& b,
                 bool shared_batches) {
  switch (difference.stage) {
    case Stage::kData:
      if (a.loads != b.loads) return OfState("does not go on with the data where A was.");
      if (!a.batch.empty() && !b.batch.empty() && a.batch != b.batch) {
        return {Origin::kSetting,
                StrCat("A batch of A has ", a.batch, " samples, one of B ", b.batch, ".")};
      }
      if (!SamePrecision(a, b)) return OfPrecision(a, b);
      if (a.seeds != b.seeds) return OfSeed(a, b);
      if (a.model != b.model && difference.last_equal < 0) {
        return OfCode(a, b,
                      "The models are not the same: as they are built they draw other random "
                      "numbers, and the batches come after them.");
      }
      if (difference.last_equal >= 0) {
        return {Origin::kDataOrder,
                StrCat("The batches are equal up to step ", difference.last_equal,
                       ". From there on other random numbers choose them, or the data change.")};
      }
      if (shared_batches) {
        return {Origin::kDataOrder, "Batches of B are batches of A, at other steps."};
      }
      if (IsOfSeed(a, b)) return OfSeed(a, b);
      return {Origin::kData, "The seeds are equal, and no batch of B is one of A."};
    case Stage::kWeights:
      if (a.loads != b.loads) return OfState("its weights are not those that A had.");
      if (a.model != b.model) return OfCode(a, b, "The models are not the same.");
      if (!SamePrecision(a, b)) return OfPrecision(a, b);
      if (difference.last_equal >= 0) return OfCode(a, b, "An earlier step left other weights.");
      if (IsOfSeed(a, b)) return OfSeed(a, b);
      return OfCode(a, b, "The seeds are equal, and the models begin with other weights.");
    case Stage::kForward:
      return OfForward(difference, a, b);
    case Stage::kGradient:
      if (!SamePrecision(a, b)) return OfPrecision(a, b);
      if (difference.relative <= kRounding) return OfRounding(difference, a, b);
      return OfCode(a, b, "The same loss gives other gradients.");
    case Stage::kClip:
      if (difference.count_a == difference.count_b) {
        return {Origin::kSetting, "The gradients are clipped with another bound."};
      }
      return {Origin::kSetting, difference.count_a == 0   ? "Only B clips its gradients."
                                : difference.count_b == 0 ? "Only A clips its gradients."
                                                          : "One clips more often in a step."};
    case Stage::kRate:
      if (a.loads != b.loads) return OfState("its learning rate is not the one that A had.");
      return {Origin::kSetting, "The learning rates are not the same."};
    case Stage::kUpdate:
      if (a.optimizers != b.optimizers) {
        return {Origin::kSetting,
                StrCat("A trains with ", a.optimizers, ", B with ", b.optimizers, ".")};
      }
      if (difference.relative <= kRounding && UnequalMachine(a, b).empty() == false) {
        return OfRounding(difference, a, b);
      }
      if (a.loads != b.loads) return OfState("its optimizer does not hold the state that A had.");
      return {Origin::kSetting,
              "The same gradient and learning rate give another update: a setting of the "
              "optimizer, or its state."};
  }
  return {};
}

}  // namespace dlcheck
