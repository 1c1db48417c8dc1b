#include "checks/engine/trace_reader.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>
#include <utility>

#include "absl/strings/numbers.h"
#include "checks/engine/status.h"
#include "checks/engine/text.h"
#include "checks/records/line_file.h"
#include "checks/records/record_reader.h"

namespace dlcheck {
namespace {

constexpr std::pair<Ending::How, std::string_view> kEndings[] = {
    {Ending::How::kFinished, "finished"}, {Ending::How::kFailed, "failed"},
    {Ending::How::kKilled, "killed"},     {Ending::How::kDeadline, "deadline"},
    {Ending::How::kStopped, "stopped"},   {Ending::How::kTruncated, "truncated"},
};

// Adds one process's records to a trace.
class ProcessReader {
 public:
  ProcessReader(const Names& names, Trace& trace) : names_(names), trace_(trace) {
    for (const auto& [id, thing] : names.things) {
      const ThingId joined = trace.AddThing(thing.kind, thing.ordinal, thing.name);
      things_[id] = joined;
      for (const auto& [key, value] : thing.attributes) trace.SetAttribute(joined, key, value);
    }
    for (const auto& [id, site] : names.sites) sites_[id] = trace.AddSite(site);
    for (const auto& [key, value] : names.process) trace.SetProcessAttribute(key, value);
  }

  // False if the record is about something whose name was written after the names were read, as
  // in a run that still goes on.
  bool Knows(const Record& record) const {
    return Has(things_, record.thing) && Has(things_, record.owner) && Has(sites_, record.site);
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
  static bool Has(const std::map<uint32_t, uint32_t>& ids, uint32_t id) {
    return id == 0 || ids.contains(id);
  }
  static uint32_t Joined(const std::map<uint32_t, uint32_t>& ids, uint32_t id) {
    const auto found = ids.find(id);
    return found == ids.end() ? 0 : found->second;
  }

  const Names& names_;
  Trace& trace_;
  std::map<uint32_t, uint32_t> things_, sites_;
};

absl::Status ReadProcess(const std::string& stem, Trace& trace) {
  DLCHECK_ASSIGN_OR_RETURN(RecordReader reader, ToStatusOr(RecordReader::Open(stem + ".records")));
  DLCHECK_ASSIGN_OR_RETURN(const Names names, ToStatusOr(ReadNames(stem + ".names")));
  ProcessReader process(names, trace);
  Record record;
  while (true) {
    const Expected<bool> more = reader.Next(record);
    if (!more.ok()) {
      trace.SetProcessAttribute("damaged", more.failure().message);
      return absl::OkStatus();
    }
    if (!*more || !process.Knows(record)) return absl::OkStatus();
    process.Take(record);
  }
}

// That of the first record; 0 where there is none.
uint16_t RankOf(const std::string& stem) {
  Expected<RecordReader> reader = RecordReader::Open(stem + ".records");
  Record record{};
  if (!reader.ok()) return 0;
  const Expected<bool> first = reader->Next(record);
  return first.ok() && *first ? record.rank : 0;
}

}  // namespace

absl::StatusOr<Trace> ReadTrace(const std::string& run_folder) {
  std::vector<std::string> stems = RecordFileStems(run_folder);
  std::ranges::stable_sort(stems, {}, RankOf);  // signals of one process look at the first
  if (stems.empty()) {
    return absl::NotFoundError(StrCat("no records were written below '", run_folder, "'"));
  }
  Trace trace;
  for (const std::string& stem : stems) DLCHECK_RETURN_IF_ERROR(ReadProcess(stem, trace));
  return trace;
}

std::string_view EndingName(Ending::How how) {
  for (const auto& [value, word] : kEndings) {
    if (value == how) return word;
  }
  return "";
}

Ending::How EndingNamed(std::string_view name) {
  for (const auto& [how, word] : kEndings) {
    if (word == name) return how;
  }
  return Ending::How::kTruncated;
}

Ending ReadEnding(const std::string& run_folder) {
  Ending ending;
  const Expected<std::string> text = ReadWholeFile(run_folder + "/" + kEndingFile, 1 << 16);
  if (!text.ok()) return ending;
  for (const LineFields& fields : ParseLines(*text)) {
    if (fields.size() < 2) continue;
    if (fields[0] == "status" && !absl::SimpleAtoi(fields[1], &ending.status)) ending.status = 0;
    if (fields[0] == "stopped_by") ending.stopped_by = fields[1];
    if (fields[0] == "how") ending.how = EndingNamed(fields[1]);
  }
  return ending;
}

absl::Status WriteEnding(const std::string& run_folder, const Ending& ending) {
  std::string text =
      FormatLine({"how", EndingName(ending.how)}) + FormatLine({"status", StrCat(ending.status)});
  if (!ending.stopped_by.empty()) text += FormatLine({"stopped_by", ending.stopped_by});
  const Expected<Done> done = WriteWholeFile(run_folder + "/" + kEndingFile, text);
  return done.ok() ? absl::OkStatus() : ToStatus(done.failure());
}

absl::StatusOr<RecordedRun> ReadRecordedRun(const std::string& run_folder) {
  Experiment experiment = kPlain;
  const Expected<Request> request = ReadRequest(run_folder + "/" + kRequestFile);
  if (request.ok()) {
    const std::optional<Experiment> named = FromRequest(*request);
    if (!named) {
      return absl::InvalidArgumentError(StrCat("'", run_folder, "' is an experiment '",
                                               request->experiment,
                                               "' that this version does not know"));
    }
    experiment = *named;
  } else if (request.failure().cause != Failure::Cause::kNotFound) {
    return ToStatus(request.failure());
  }
  absl::StatusOr<Trace> trace = ReadTrace(run_folder);
  const Ending ending = ReadEnding(run_folder);
  if (!trace.ok()) {
    // A run that recorded nothing is still evidence of how it ended.
    if (!absl::IsNotFound(trace.status())) return trace.status();
    if (!std::filesystem::exists(run_folder + "/" + kEndingFile)) return trace.status();
    return RecordedRun{experiment, Run{Trace(), ending}};
  }
  Run run{*std::move(trace), ending};
  for (const Occurrence& event : run.trace.Events()) {
    if (event.event == Event::kStopped && ending.how == Ending::How::kFinished) {
      run.ending.how = Ending::How::kStopped;
    }
  }
  return RecordedRun{experiment, std::move(run)};
}

}  // namespace dlcheck
