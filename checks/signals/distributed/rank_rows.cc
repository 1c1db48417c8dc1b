#include "checks/signals/distributed/rank_rows.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>
#include <vector>

namespace dlcheck {
namespace {

using Row = std::pair<double, double>;

ByRank<std::set<Row>> RowsByRank(const Trace& trace) {
  ByRank<std::set<Row>> rows;
  for (const ThingId thing : trace.ThingsWith(Quantity::kRowSketch)) {
    for (const Sample& sample : trace.Series(Quantity::kRowSketch, thing)) {
      rows[sample.rank].insert({sample.value, sample.aux});
    }
  }
  return rows;
}

}  // namespace

CommonRows MostCommonRows(const Trace& trace, const Ranks& members) {
  const ByRank<std::set<Row>> rows = RowsByRank(trace);
  CommonRows most;
  for (const uint16_t first : members) {
    for (const uint16_t second : members) {
      if (second <= first || !rows.contains(first) || !rows.contains(second)) continue;
      const std::set<Row>&a = rows.at(first), &b = rows.at(second);
      std::vector<Row> both;
      std::ranges::set_union(a, b, std::back_inserter(both));
      both.resize(std::min(both.size(), std::min(a.size(), b.size())));
      const int64_t common = std::ranges::count_if(
          both, [&](const Row& row) { return a.contains(row) && b.contains(row); });
      if (most.pair.empty() || common > most.common) {
        most = {
            .pair = {first, second}, .common = common, .rows = static_cast<int64_t>(both.size())};
      }
    }
  }
  return most;
}

Ranks WithRows(const Trace& trace) {
  Ranks ranks;
  for (const auto& [rank, rows] : RowsByRank(trace)) ranks.push_back(rank);
  return ranks;
}

}  // namespace dlcheck
