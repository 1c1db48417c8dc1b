// The records of one run, all its processes joined, and how it ended. Built once by trace_reader.cc
// or by the examples of checks; read by signals. Holds numbers and names only, never a tensor.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "checks/engine/ending.h"
#include "checks/engine/losses.h"
#include "checks/records/names.h"
#include "checks/records/record.h"

namespace dlcheck {

using ThingId = uint32_t;  // index into Trace::things(); 0 is none
using SiteId = uint32_t;   // index into Trace::sites(); 0 is none

// Something that happened; where `count` is not 1 or `last_step` not `step`, a gap that saw it
// happen.
struct Occurrence {
  Event event;
  uint16_t rank = 0;
  uint32_t micro_step = 0;
  int64_t step = 0, last_step = 0;
  ThingId thing = 0, owner = 0;
  SiteId site = 0;
  bool gap = false;
  uint64_t order = 0;  // among all records of its process
  double count = 1;
  double value = 0, aux = 0;
};

struct Sample {  // one value of one quantity of one thing
  int64_t step = 0;
  uint64_t order = 0;
  double value = 0, aux = 0;
  SiteId site = 0;
  ThingId owner = 0;  // the optimizer or model it belongs to
  uint16_t rank = 0;
  uint16_t micro_step = 0;  // saturates
};

class Trace {
 public:
  // Defined in trace.cc: what includes this would compile the tables anew, a fifth of its time.
  Trace();
  Trace(const Trace& other);
  Trace& operator=(const Trace& other);
  Trace(Trace&& other) noexcept;
  Trace& operator=(Trace&& other) noexcept;
  ~Trace();

  // The id of a thing by identity, made on first use; attributes are merged, later ones win.
  ThingId AddThing(std::string_view kind, int ordinal, std::string_view name);
  SiteId AddSite(const NamedSite& site);
  void SetAttribute(ThingId thing, std::string_view key, std::string_view value);
  void SetProcessAttribute(std::string_view key, std::string_view value);
  void AddEvent(const Occurrence& occurrence) { events_.push_back(occurrence); }
  void AddSample(Quantity quantity, ThingId thing, const Sample& sample);

  std::span<const NamedThing> things() const { return things_; }
  const NamedThing& thing(ThingId id) const { return things_[id]; }
  std::span<const NamedSite> sites() const { return sites_; }
  const NamedSite& site(SiteId id) const { return sites_[id]; }

  // Empty if the thing has no such attribute.
  std::string_view Attribute(ThingId thing, std::string_view key) const;
  std::string_view ProcessAttribute(std::string_view key) const;
  const std::map<std::string, std::string, std::less<>>& ProcessAttributes() const {
    return process_;
  }

  std::vector<ThingId> ThingsOfKind(std::string_view kind) const;

  // What happened, in order within a process, gaps included.
  std::span<const Occurrence> Events() const { return events_; }

  // Samples of one quantity of one thing in the order written; empty if never seen. Valid while the
  // trace is not added to.
  std::span<const Sample> Series(Quantity quantity, ThingId thing) const;

  // All things that have the quantity, by id.
  std::vector<ThingId> ThingsWith(Quantity quantity) const;

  // How a report names a thing: "fc1.weight", with "model#1/" before it for all but the first
  // model.
  std::string Display(ThingId thing) const;

 private:
  std::vector<NamedThing> things_;
  std::vector<NamedSite> sites_;
  std::vector<Occurrence> events_;
  std::map<std::string, std::string, std::less<>> process_;
  absl::flat_hash_map<std::tuple<std::string, int, std::string>, ThingId> thing_ids_;
  absl::flat_hash_map<std::tuple<std::string, int, std::string>, SiteId> site_ids_;
  std::map<std::pair<Quantity, ThingId>, std::vector<Sample>> series_;
};

struct Run {
  Trace trace;
  Ending ending;
  Losses losses = {};

  // Whether the program may have made steps after the last that was recorded.
  bool MayBeCut() const {
    return losses.cut || ending.how == Ending::How::kKilled || ending.how == Ending::How::kDeadline;
  }
};

}  // namespace dlcheck
