// Changes of the learning rate by one scheduler that another scheduler of its optimizer undoes.
#pragma once

#include <cstdint>
#include <optional>

#include "checks/signals/schedule/schedulers.h"

namespace dlcheck {

struct UndoneChanges {
  int64_t changes = 0;
  int64_t first_step = 0, last_step = 0;
  double from = 0, to = 0;  // of the first of them
};

// Of the scheduler at place `lost`, undone by the one at `winner`. Nothing if some change lasts
// until its next one. `is_absolute`: the rates of `lost` do not depend on the one before.
std::optional<UndoneChanges> ChangesUndone(const Schedulers& schedulers, size_t lost, size_t winner,
                                           bool is_absolute);

}  // namespace dlcheck
