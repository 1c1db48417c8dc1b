#include "checks/engine/process_reader.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>

#include "checks/engine/text.h"
#include "checks/records/names.h"

namespace dlcheck {
namespace {

// Adds one process's records to a trace.
class ProcessJoiner {
 public:
  ProcessJoiner(const Names& names, const SourceLines& lines, Trace& trace)
      : names_(names), trace_(trace) {
    for (const auto& [id, thing] : names.things) {
      const ThingId joined = trace.AddThing(thing.kind, thing.ordinal, thing.name);
      things_[id] = joined;
      for (const auto& [key, value] : thing.attributes) trace.SetAttribute(joined, key, value);
    }
    for (const auto& [id, site] : names.sites) {
      const auto line = lines.find(site.file);
      if (line != lines.end()) {
        sites_[id] = trace.AddSite(line->second);
      } else if (!site.file.starts_with("@")) {
        sites_[id] = trace.AddSite(site);
      }
    }
    if (!names.writer.empty()) trace.SetProcessAttribute("writer", names.writer);
    for (const auto& [key, value] : names.process) trace.SetProcessAttribute(key, value);
  }

  // A record whose number this version has no name for is passed over: a newer writer may know
  // more.
  void Take(const Record& record) {
    if (record.kind == Kind::kQuantity) {
      const auto quantity = names_.quantities.find(record.number);
      if (quantity == names_.quantities.end() || quantity->second == Quantity::kNone) return;
      constexpr uint32_t kMost = std::numeric_limits<uint16_t>::max();
      trace_.AddSample(quantity->second, Joined(things_, record.thing),
                       {.step = record.step,
                        .order = record.sequence,
                        .value = record.value,
                        .aux = record.aux,
                        .site = Joined(sites_, record.site),
                        .owner = Joined(things_, record.owner),
                        .rank = record.rank,
                        .micro_step = static_cast<uint16_t>(std::min(record.micro_step, kMost))});
      return;
    }
    const auto event = names_.events.find(record.number);
    if (event == names_.events.end() || event->second == Event::kNone) return;
    const bool gap = record.kind == Kind::kGap;
    trace_.AddEvent({.event = event->second,
                     .rank = record.rank,
                     .micro_step = record.micro_step,
                     .step = record.step,
                     .last_step = gap ? static_cast<int64_t>(record.aux) : record.step,
                     .thing = Joined(things_, record.thing),
                     .owner = Joined(things_, record.owner),
                     .site = Joined(sites_, record.site),
                     .gap = gap,
                     .order = record.sequence,
                     .count = gap ? record.value : 1,
                     .value = gap ? 0 : record.value,
                     .aux = gap ? 0 : record.aux});
  }

 private:
  static uint32_t Joined(const std::map<uint32_t, uint32_t>& ids, uint32_t id) {
    const auto found = ids.find(id);
    return found == ids.end() ? 0 : found->second;
  }

  const Names& names_;
  Trace& trace_;
  std::map<uint32_t, uint32_t> things_, sites_;
};

std::string RoleOf(const FileHeader& header) {
  return std::string(header.role, strnlen(header.role, sizeof(header.role)));
}

// The number of the process and which of its files: "4711-0".
std::string ShortName(const std::string& stem) { return stem.substr(stem.rfind('/') + 1); }

}  // namespace

Expected<ProcessFiles> Examine(const std::string& stem) {
  Expected<RecordReader> reader = RecordReader::Open(stem + ".records");
  if (!reader.ok()) return reader.failure();
  ProcessFiles files{.stem = stem, .role = RoleOf(reader->header())};
  Record record;
  while (true) {
    const Expected<bool> more = reader->Next(record);
    if (!more.ok()) files.damage = more.failure().message;
    if (!more.ok() || !*more) break;
    if (files.records++ == 0) files.rank = record.rank;
  }
  files.extent = reader->extent();
  return files;
}

void Join(const ProcessFiles& files, const std::string& word, const SourceLines& lines, Run& run) {
  if (!files.damage.empty()) run.losses.damaged.push_back(files.damage);
  if (files.extent.bytes == 0) return;  // killed as it made its files
  const Expected<Names> names = ReadNames(files.stem + ".names", files.extent);
  if (!names.ok()) {
    run.losses.damaged.push_back(names.failure().message);
    return;
  }
  if (names->run != word) {
    run.losses.damaged.push_back(
        StrCat("'", files.stem, ".records' belongs to another run and was skipped"));
    return;
  }
  if (const auto quiet = names->process.find("quiet"); quiet != names->process.end()) {
    run.losses.missing.push_back(StrCat("process ", ShortName(files.stem), ": ", quiet->second));
  }
  ProcessJoiner joiner(*names, lines, run.trace);
  Expected<RecordReader> reader = RecordReader::Open(files.stem + ".records");
  Record record;
  for (uint64_t i = 0; i < files.records; ++i) {
    const Expected<bool> more = reader.ok() ? reader->Next(record) : reader.failure();
    if (!more.ok() || !*more) {
      run.losses.damaged.push_back(more.ok() ? StrCat("'", files.stem, ".records' was cut just now")
                                             : more.failure().message);
      return;
    }
    joiner.Take(record);
  }
}

}  // namespace dlcheck
