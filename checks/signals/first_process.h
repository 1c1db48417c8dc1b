// Runs of several processes, as of ranks, have their records one process after the other. Signals
// that compare one record with the next look at the first process alone.
#pragma once

#include <span>

namespace dlcheck {

// Up to where the order falls, which it does only from one process to the next. For samples and
// occurrences.
template <typename Record>
std::span<const Record> FirstProcess(std::span<const Record> records) {
  size_t count = records.empty() ? 0 : 1;
  while (count < records.size() && records[count].order >= records[count - 1].order) ++count;
  return records.first(count);
}

}  // namespace dlcheck
