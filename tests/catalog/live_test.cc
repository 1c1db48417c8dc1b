// What a check that may speak live says of a run that goes on is never taken back: each of its
// examples is cut after every record.
#include <gtest/gtest.h>

#include <algorithm>

#include "checks/catalog/catalog.h"

namespace dlcheck {
namespace {

constexpr int kMostQuantities = 256;

template <typename Use>
void ForEachSample(const Trace& trace, const Use& use) {
  for (int number = 1; number < kMostQuantities; ++number) {
    const auto quantity = static_cast<Quantity>(number);
    for (const ThingId thing : trace.ThingsWith(quantity)) {
      for (const Sample& sample : trace.Series(quantity, thing)) use(quantity, thing, sample);
    }
  }
}

uint64_t RecordsOf(const Trace& trace) {
  uint64_t last = 0;
  for (const Occurrence& event : trace.Events()) last = std::max(last, event.order);
  ForEachSample(
      trace, [&](Quantity, ThingId, const Sample& sample) { last = std::max(last, sample.order); });
  return last + 1;
}

// All names and sites of a run and its records before `end`; nobody knows how it will end.
Run Prefix(const Run& run, uint64_t end) {
  Run prefix;
  for (const NamedThing& thing : run.trace.things().subspan(1)) {
    const ThingId id = prefix.trace.AddThing(thing.kind, thing.ordinal, thing.name);
    for (const auto& [key, value] : thing.attributes) prefix.trace.SetAttribute(id, key, value);
  }
  for (const NamedSite& site : run.trace.sites().subspan(1)) prefix.trace.AddSite(site);
  for (const auto& [key, value] : run.trace.ProcessAttributes()) {
    prefix.trace.SetProcessAttribute(key, value);
  }
  for (const Occurrence& event : run.trace.Events()) {
    if (event.order < end) prefix.trace.AddEvent(event);
  }
  ForEachSample(run.trace, [&](Quantity quantity, ThingId thing, const Sample& sample) {
    if (sample.order < end) prefix.trace.AddSample(quantity, thing, sample);
  });
  return prefix;
}

bool HasError(const Check& check, const Settings& settings, const Run& run) {
  Evidence evidence;
  evidence.Add(kPlain, run);
  const auto verdict = check.judgement.judge(settings, evidence);
  return verdict.ok() && std::ranges::any_of(verdict->findings, [](const Finding& finding) {
           return finding.severity == Severity::kError;
         });
}

TEST(Live, ErrorsAreNotTakenBackByMoreRecords) {
  for (const Check& check : Catalog()) {
    if (!check.live) continue;
    bool shown = false;
    for (const Example& example : check.examples) {
      const Evidence evidence = example.evidence();
      const dlcheck::Run& run = *evidence.RunOf(kPlain);
      const Settings settings(example.settings);
      bool said = false;
      for (uint64_t end = 1; end <= RecordsOf(run.trace); ++end) {
        const bool error = HasError(check, settings, Prefix(run, end));
        EXPECT_TRUE(error || !said) << check.id << ", " << example.title << ", record " << end;
        said = said || error;
      }
      EXPECT_EQ(said, HasError(check, settings, run)) << check.id << ", " << example.title;
      shown = shown || said;
    }
    EXPECT_TRUE(shown) << check.id << " has no example of an error";
  }
}

TEST(Live, OnlyChecksOfThePlainRunSpeak) {
  for (const Check& check : Catalog()) {
    if (!check.live) continue;
    for (const Need& need : check.judgement.needs) {
      EXPECT_EQ(FolderName(need.experiment), FolderName(kPlain)) << check.id;
    }
  }
}

}  // namespace
}  // namespace dlcheck
