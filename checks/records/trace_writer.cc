#include "checks/records/trace_writer.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <ctime>

#include "checks/records/crc32.h"
#include "checks/records/line_file.h"
#include "checks/records/preamble.h"

namespace dlcheck {
namespace {

constexpr int64_t kAheadBytes = int64_t{1} << 20;
constexpr size_t kBlockBytes = size_t{64} << 10;
// So much may wait where no descriptor is free for a while.
constexpr size_t kMostWaitingBytes = size_t{8} << 20;
constexpr uint64_t kLongestWait = 50'000'000;          // nanoseconds, for a record
constexpr uint64_t kLongestRetry = 64 * kLongestWait;  // as each try costs a pass over what waits
// The first steps are written as they end: of a program that hangs early, every one counts.
constexpr uint64_t kRecordsOfFirstSteps = 256;
// Always left below the cap: a record that says why it ends, and the seals around it.
constexpr int64_t kLastBytes = 4 * int64_t{sizeof(Record)};
constexpr int kMostFilesOfOneProcessId = 1000;

// Raised in every forked child, so that an inherited writer falls silent there: two processes must
// never share one map.
std::atomic<uint64_t> fork_generation{0};

void WatchForks() {
  static const int registered =
      pthread_atfork(nullptr, nullptr, [] { fork_generation.fetch_add(1); });
  (void)registered;
}

void CopyPadded(char* to, size_t size, const std::string& text) {
  std::memset(to, 0, size);
  std::memcpy(to, text.data(), std::min(size - 1, text.size()));
}

// A process id can come back within one run; each use gets files of its own.
Expected<OwnedFile> CreateRecordFile(const std::string& folder, uint32_t process) {
  Expected<OwnedFile> file = Failure{};
  for (int use = 0; use < kMostFilesOfOneProcessId; ++use) {
    file = OwnedFile::Create(folder + "/" + std::to_string(process) + "-" + std::to_string(use) +
                             ".records");
    if (file.ok() || file.failure().cause != Failure::Cause::kInvalid) break;
  }
  return file;
}

std::string NamesPath(const std::string& records_path) {
  return records_path.substr(0, records_path.rfind('.')) + ".names";
}

}  // namespace

void NoteLoss(const std::string& run_folder, uint32_t process, const std::string& reason) {
  const std::string path = run_folder + "/" + kLossesFile;
  const int file =
      open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
  if (file < 0) return;
  const std::string line = FormatLine({std::to_string(process), reason});
  (void)!write(file, line.data(), line.size());
  close(file);
}

uint64_t MonotonicTime() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000u + static_cast<uint64_t>(now.tv_nsec);
}

Expected<std::unique_ptr<TraceWriter>> TraceWriter::Create(const Options& options) {
  WatchForks();
  Options used = options;
  if (used.process == 0) used.process = static_cast<uint32_t>(getpid());
  Expected<std::unique_ptr<TraceWriter>> writer = TryCreate(used);
  if (!writer.ok()) NoteLoss(used.run_folder, used.process, writer.failure().message);
  return writer;
}

Expected<std::unique_ptr<TraceWriter>> TraceWriter::TryCreate(const Options& options) {
  const std::string folder = options.run_folder + "/records";
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
    return Failure{Failure::Cause::kUnavailable,
                   "cannot make '" + folder + "': " + std::strerror(errno)};
  }
  Expected<OwnedFile> records = CreateRecordFile(folder, options.process);
  if (!records.ok()) return Failure{Failure::Cause::kUnavailable, records.failure().message};
  Expected<OwnedFile> names = OwnedFile::Create(NamesPath(records->path()));
  if (!names.ok()) return Failure{Failure::Cause::kUnavailable, names.failure().message};
  std::unique_ptr<TraceWriter> writer(
      new TraceWriter(options, *std::move(records), *std::move(names)));
  writer->PutHeader();
  writer->AddLine(Preamble(options.writer, options.run));
  const Expected<Done> written = writer->TryWriteBlock(Kind::kSeal);
  if (!written.ok()) return Failure{Failure::Cause::kUnavailable, written.failure().message};
  return writer;
}

TraceWriter::TraceWriter(const Options& options, OwnedFile records, OwnedFile names)
    : options_(options),
      records_(std::move(records)),
      names_(std::move(names)),
      wait_(kLongestWait),
      generation_(fork_generation.load()) {}

bool TraceWriter::IsInherited() const { return generation_ != fork_generation.load(); }

void TraceWriter::PutHeader() {
  FileHeader header{};
  std::memcpy(header.magic, kMagic, sizeof(kMagic));
  header.byte_order = kByteOrder;
  header.major = kFormatMajor;
  header.minor = kFormatMinor;
  CopyPadded(header.writer, sizeof(header.writer), options_.writer);
  CopyPadded(header.role, sizeof(header.role), options_.role);
  header.start = last_flush_ = options_.clock();
  header.process = options_.process;
  header.record_bytes = sizeof(Record);
  block_.append(reinterpret_cast<const char*>(&header), sizeof(header));
}

TraceWriter::~TraceWriter() {
  if (IsInherited()) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  WriteEnd();
}

void TraceWriter::End() {
  if (IsInherited()) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  WriteEnd();
  quiet_ = true;
}

void TraceWriter::WriteEnd() {
  if (ended_) return;
  ended_ = true;
  WriteBlock(Kind::kEnd);
  // What cannot be given back is zeros, which a reader passes over.
  (void)records_.Close().ok();
}

// Names go first, so that no record that can be read speaks of one that cannot.
Expected<Done> TraceWriter::TryWriteBlock(Kind kind) {
  const Expected<Done> named = lines_.empty() ? Done{} : names_.Append(lines_);
  if (!named.ok()) return named;
  names_sum_ = Crc32(lines_, names_sum_);
  lines_.clear();
  Seal seal{};
  seal.kind = kind;
  seal.sequence = sequence_;
  seal.names = static_cast<uint64_t>(names_.size());
  seal.names_sum = names_sum_;
  std::string bytes = block_;
  bytes.append(reinterpret_cast<const char*>(&seal), sizeof(seal));
  seal.sum = Crc32(bytes, sum_);
  bytes.replace(block_.size(), sizeof(seal), reinterpret_cast<const char*>(&seal), sizeof(seal));
  const Expected<Done> written = records_.Append(bytes, kAheadBytes);
  if (!written.ok()) return written;
  sum_ = seal.sum;
  sealed_ = sequence_;
  block_.clear();
  return Done{};
}

void TraceWriter::WriteBlock(Kind kind) {
  const Expected<Done> written = TryWriteBlock(kind);
  wait_ = written.ok() ? kLongestWait : std::min(2 * wait_, kLongestRetry);
  if (written.ok()) return;
  // A disk may have room again, a descriptor be free again, before much has to wait.
  const bool may_pass = written.failure().cause == Failure::Cause::kUnavailable;
  const bool has_room = block_.size() + 2 * sizeof(Record) <= kMostWaitingBytes;
  if (kind == Kind::kSeal && may_pass && has_room) return;
  GoQuiet(written.failure().message);
}

// What could not be written is given up; a record in the space taken ahead says so.
void TraceWriter::GoQuiet(const std::string& reason) {
  if (quiet_) return;
  lines_ += FormatLine({"attribute", "0", "quiet", reason});
  quiet_ = true;
  if (Bytes() + kLastBytes <= options_.size_cap_bytes) {
    block_.clear();
    sequence_ = sealed_;
  }
  AppendUnchecked(Kind::kEvent, static_cast<uint16_t>(Event::kQuiet), Record{});
  if (!TryWriteBlock(Kind::kSeal).ok()) NoteLoss(options_.run_folder, options_.process, reason);
}

void TraceWriter::AddLine(const std::string& line) {
  if (quiet_ || IsInherited()) return;
  lines_ += line;
}

void TraceWriter::FlushIfOlder(uint64_t nanoseconds) {
  if (quiet_ || IsInherited() || (block_.empty() && lines_.empty())) return;
  const uint64_t now = options_.clock();
  if (now - last_flush_ < nanoseconds) return;
  last_flush_ = now;
  WriteBlock(Kind::kSeal);
}

void TraceWriter::EndStep() {
  const std::lock_guard<std::mutex> lock(mutex_);
  FlushIfOlder(sequence_ < kRecordsOfFirstSteps && wait_ == kLongestWait ? 0 : wait_);
}

void TraceWriter::Flush() {
  const std::lock_guard<std::mutex> lock(mutex_);
  FlushIfOlder(0);
}

void TraceWriter::SetRank(uint16_t rank) {
  const std::lock_guard<std::mutex> lock(mutex_);
  options_.rank = rank;
}

void TraceWriter::AppendUnchecked(Kind kind, uint16_t number, Record fields) {
  fields.kind = kind;
  fields.number = number;
  if (options_.rank != 0) fields.rank = options_.rank;
  fields.sequence = sequence_++;
  fields.time = options_.clock();
  block_.append(reinterpret_cast<const char*>(&fields), sizeof(fields));
  if (quiet_) return;
  const size_t full = wait_ == kLongestWait ? kBlockBytes : kMostWaitingBytes;
  const bool is_full = block_.size() + 2 * sizeof(Record) > full;
  if (!is_full && fields.time - last_flush_ < wait_) return;
  last_flush_ = fields.time;
  WriteBlock(Kind::kSeal);
}

void TraceWriter::Append(Kind kind, uint16_t number, Record fields) {
  if (quiet_ || IsInherited()) return;
  if (Bytes() + kLastBytes > options_.size_cap_bytes) {
    GoQuiet("the record file reached its cap of " + std::to_string(options_.size_cap_bytes) +
            " bytes");
    return;
  }
  AppendUnchecked(kind, number, fields);
}

uint32_t TraceWriter::Thing(std::string_view kind, int ordinal, std::string_view name) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto [found, fresh] = things_.try_emplace({std::string(kind), ordinal, std::string(name)},
                                                  static_cast<uint32_t>(things_.size() + 1));
  if (fresh) {
    AddLine(
        FormatLine({"thing", std::to_string(found->second), kind, std::to_string(ordinal), name}));
  }
  return found->second;
}

uint32_t TraceWriter::Site(std::string_view file, int line, std::string_view function) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto [found, fresh] = sites_.try_emplace({std::string(file), line, std::string(function)},
                                                 static_cast<uint32_t>(sites_.size() + 1));
  if (fresh) {
    AddLine(
        FormatLine({"site", std::to_string(found->second), file, std::to_string(line), function}));
  }
  return found->second;
}

void TraceWriter::Attribute(uint32_t thing, std::string_view key, std::string_view value) {
  const std::lock_guard<std::mutex> lock(mutex_);
  AddLine(FormatLine({"attribute", std::to_string(thing), key, value}));
}

void TraceWriter::PutEvent(Event event, Record fields) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Append(Kind::kEvent, static_cast<uint16_t>(event), fields);
}

void TraceWriter::PutQuantity(Quantity quantity, Record fields) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Append(Kind::kQuantity, static_cast<uint16_t>(quantity), fields);
}

void TraceWriter::PutGap(Event event, int64_t first_step, int64_t last_step, double count,
                         Record fields) {
  const std::lock_guard<std::mutex> lock(mutex_);
  fields.step = first_step;
  fields.aux = static_cast<double>(last_step);
  fields.value = count;
  Append(Kind::kGap, static_cast<uint16_t>(event), fields);
}

}  // namespace dlcheck
