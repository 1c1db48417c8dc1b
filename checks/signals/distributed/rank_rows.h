// The rows that ranks train on in their first pass over the data, compared between ranks.
#pragma once

#include <cstdint>

#include "checks/engine/trace.h"
#include "checks/signals/distributed/rank_groups.h"

namespace dlcheck {

// Of two processes with the most rows in common: how many of those looked at they both had.
struct CommonRows {
  Ranks pair;  // empty if no two reported their rows
  int64_t common = 0, rows = 0;
};

// Of these members. Each tells the smallest row numbers that it had, so that what is smaller than
// the largest of both was looked at in both.
CommonRows MostCommonRows(const Trace& trace, const Ranks& members);

// Ranks that reported the rows they trained on; ascending.
Ranks WithRows(const Trace& trace);

}  // namespace dlcheck
