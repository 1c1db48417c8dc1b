// Faults of this trainer, planted on purpose so that checks can be shown to find them. Each is a
// change of the plan; the loop knows none of them.
#pragma once

#include <string>
#include <vector>

#include "reference/training/plan.h"

namespace dlcheck::reference {

struct Fault {
  std::string name;
  std::string check;    // that must find it
  std::string options;  // that `dlcheck run` needs for that
  std::string story;
};

// In the order of faults.def.
const std::vector<Fault>& Faults();

// How many ranks a fault needs at least; 1 for an unknown one.
int64_t RanksOf(const std::string& fault);

// Changes `plan` so that the run has the fault, and sets the options of the recipe that it needs.
// Errors: UsageError for an unknown name, with the nearest.
void PlantFault(const std::string& name, Plan& plan);

}  // namespace dlcheck::reference
