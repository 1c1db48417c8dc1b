#include "diagnostics/compare/facts.h"

#include <algorithm>
#include <cstdio>
#include <set>

#include "absl/strings/str_join.h"
#include "checks/engine/text.h"

namespace dlcheck {
namespace {

constexpr int64_t kFirstSteps = 4;  // in which a run shows its precision

std::string Whole(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.0f", number);
  return text;
}

void ReadParameters(const Trace& trace, Facts& facts) {
  std::set<std::string> dtypes, parts;
  for (const ThingId thing : trace.ThingsOfKind("parameter")) {
    parts.insert(StrCat(trace.Display(thing), " ", trace.Attribute(thing, "shape")));
    dtypes.emplace(trace.Attribute(thing, "dtype"));
    const std::string elements(trace.Attribute(thing, "elements"));
    facts.parameters += std::atoll(elements.c_str());
  }
  dtypes.erase("");
  facts.dtypes = absl::StrJoin(dtypes, ", ");
  facts.model = absl::StrJoin(parts, ", ");
}

void ReadEvents(const Trace& trace, Facts& facts) {
  for (const Occurrence& event : trace.Events()) {
    if (event.gap || event.step > 0 || event.rank != 0) continue;
    if (event.event == Event::kSeeded) facts.seeds.push_back(Whole(event.value));
    if (event.event == Event::kLoaded) facts.loads = true;
    if (event.event == Event::kUsed && facts.batch.empty()) facts.batch = Whole(event.value);
  }
}

std::string AutocastIn(const Trace& trace) {
  double most = 0;
  for (const ThingId thing : trace.ThingsWith(Quantity::kLowPrecisionShare)) {
    for (const Sample& sample : trace.Series(Quantity::kLowPrecisionShare, thing)) {
      if (sample.step < kFirstSteps) most = std::max(most, sample.value);
    }
  }
  return most == 0 ? "none" : StrCat(Short(100 * most), " % of the matrix products");
}

}  // namespace

Facts FactsOf(const Trace& trace) {
  Facts facts{.seeds = {},
              .torch = std::string(trace.ProcessAttribute("torch")),
              .python = std::string(trace.ProcessAttribute("python")),
              .machine = std::string(trace.ProcessAttribute("machine")),
              .threads = std::string(trace.ProcessAttribute("threads")),
              .devices = std::string(trace.ProcessAttribute("devices")),
              .source = std::string(trace.ProcessAttribute("source")),
              .dtypes = "",
              .autocast = AutocastIn(trace),
              .model = "",
              .optimizers = "",
              .batch = ""};
  ReadParameters(trace, facts);
  ReadEvents(trace, facts);
  std::vector<std::string> types;
  for (const ThingId thing : trace.ThingsOfKind("optimizer")) {
    types.emplace_back(trace.Attribute(thing, "type"));
  }
  facts.optimizers = absl::StrJoin(types, ", ");
  return facts;
}

std::vector<UnequalFact> UnequalFacts(const Facts& a, const Facts& b) {
  std::vector<UnequalFact> found;
  // What one run did not record is no difference.
  const auto add = [&](const char* name, const std::string& one, const std::string& two) {
    if (one != two && !one.empty() && !two.empty()) found.push_back({name, one, two});
  };
  const auto seeds = [](const Facts& facts) {
    return facts.seeds.empty() ? std::string("none") : absl::StrJoin(facts.seeds, ", ");
  };
  add("seeds", seeds(a), seeds(b));
  add("source", a.source, b.source);
  add("optimizers", a.optimizers, b.optimizers);
  if (a.model != b.model) {
    add("parameters", WithCommas(a.parameters), WithCommas(b.parameters));
    if (a.parameters == b.parameters) found.push_back({"parameter names or shapes", "", ""});
  }
  add("data type of the parameters", a.dtypes, b.dtypes);
  add("autocast", a.autocast, b.autocast);
  add("samples of the first batch", a.batch, b.batch);
  add("torch", a.torch, b.torch);
  add("python", a.python, b.python);
  add("machine", a.machine, b.machine);
  add("threads", a.threads, b.threads);
  add("devices", a.devices, b.devices);
  if (a.loads != b.loads) {
    found.push_back(
        {"state loaded before the first step", a.loads ? "yes" : "no", b.loads ? "yes" : "no"});
  }
  return found;
}

}  // namespace dlcheck
