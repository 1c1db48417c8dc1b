#include "checks/engine/false_alarms.h"

namespace dlcheck {
namespace {

constexpr FalseAlarms kMeasured[] = {
#define DLCHECK_FALSE_ALARMS(check, runs, steps, alarmed_runs, bound) \
  {check, runs, steps, alarmed_runs, bound},
#include "checks/engine/false_alarms.def"
#undef DLCHECK_FALSE_ALARMS
};

}  // namespace

const FalseAlarms* FindFalseAlarms(std::string_view check) {
  for (const FalseAlarms& measured : kMeasured) {
    if (measured.check == check) return &measured;
  }
  return nullptr;
}

}  // namespace dlcheck
