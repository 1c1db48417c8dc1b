// The records of a run with several ranks come one process after the other. Signals that compare
// one record with the next read the first process only.
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
