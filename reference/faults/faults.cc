#include "reference/faults/faults.h"

#include <map>

#include "checks/records/nearest.h"
#include "reference/faults/planters.h"
#include "reference/recipe/rejection.h"

namespace dlcheck::reference {
namespace {

const std::map<FaultName, void (*)(Plan&)>& AllPlanters() {
  static const std::map<FaultName, void (*)(Plan&)> all = [] {
    std::map<FaultName, void (*)(Plan&)> joined;
    for (const Planters& planters : {LoopFaults(), LossFaults(), MechanismFaults(), StateFaults(),
                                     ScheduleFaults(), UpdateFaults(), RankFaults()}) {
      joined.insert(planters.begin(), planters.end());
    }
    return joined;
  }();
  return all;
}

}  // namespace

const std::vector<Fault>& Faults() {
  static const std::vector<Fault> faults = {
#define DLCHECK_FAULT(enumerator, name, check, options, story) {name, check, options, story},
#include "reference/faults/faults.def"
#undef DLCHECK_FAULT
  };
  return faults;
}

int64_t RanksOf(const std::string& fault) {
  for (const auto& [name, planter] : RankFaults()) {
    if (Faults()[static_cast<size_t>(name)].name == fault) return 2;
  }
  return 1;
}

void PlantFault(const std::string& name, Plan& plan) {
  std::vector<std::string> known;
  for (size_t i = 0; i < Faults().size(); ++i) {
    if (Faults()[i].name == name) return AllPlanters().at(static_cast<FaultName>(i))(plan);
    known.push_back(Faults()[i].name);
  }
  throw UsageError("fault is '" + name + "'; --list-faults names them" + DidYouMean(name, known));
}

}  // namespace dlcheck::reference
