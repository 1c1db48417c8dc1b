#include "checks/records/trace_writer.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <ctime>

#include "checks/records/line_file.h"
#include "checks/records/version.h"

namespace dlcheck {
namespace {

constexpr int64_t kExtentBytes = int64_t{1} << 20;
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

std::string Preamble(const TraceWriter::Options& options) {
  std::string text =
      FormatLine({"format", std::to_string(kFormatMajor) + "." + std::to_string(kFormatMinor)}) +
      FormatLine({"writer", options.writer, kVersion});
#define DLCHECK_EVENT(enumerator, name, number, writers, meaning) \
  text += FormatLine({"event", #number, name});
#include "checks/records/event.def"
#undef DLCHECK_EVENT
#define DLCHECK_QUANTITY(enumerator, name, number, unit, writers, meaning) \
  text += FormatLine({"quantity", #number, name});
#include "checks/records/quantity.def"
#undef DLCHECK_QUANTITY
  return text;
}

}  // namespace

uint64_t MonotonicTime() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000u + static_cast<uint64_t>(now.tv_nsec);
}

Expected<std::unique_ptr<TraceWriter>> TraceWriter::Create(const Options& options) {
  WatchForks();
  std::unique_ptr<TraceWriter> writer(new TraceWriter(options));
  if (writer->options_.process == 0) writer->options_.process = static_cast<uint32_t>(getpid());
  writer->generation_ = fork_generation.load();
  const std::string folder = options.run_folder + "/records";
  if (mkdir(folder.c_str(), 0755) != 0 && errno != EEXIST) {
    return Failure{Failure::Cause::kUnavailable,
                   "cannot make '" + folder + "': " + std::strerror(errno)};
  }
  const std::string stem = writer->CreateRecordFile(folder);
  if (writer->record_file_ < 0) {
    return Failure{Failure::Cause::kUnavailable,
                   "cannot create '" + stem + ".records': " + std::strerror(errno)};
  }
  writer->side_file_ =
      open((stem + ".names").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644);
  if (writer->side_file_ < 0 || !writer->Grow()) {
    return Failure{Failure::Cause::kUnavailable,
                   "cannot allocate '" + stem + ".records': " + std::strerror(errno)};
  }
  writer->WriteLine(Preamble(options));
  writer->WriteHeader();
  return writer;
}

// A process id can come back within one run; each use gets files of its own. Returns the stem tried
// last.
std::string TraceWriter::CreateRecordFile(const std::string& folder) {
  std::string stem;
  for (int use = 0; use < kMostFilesOfOneProcessId; ++use) {
    stem = folder + "/" + std::to_string(options_.process) + "-" + std::to_string(use);
    record_file_ = open((stem + ".records").c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (record_file_ >= 0 || errno != EEXIST) break;
  }
  return stem;
}

void TraceWriter::WriteHeader() {
  FileHeader header{};
  std::memcpy(header.magic, kMagic, sizeof(kMagic));
  header.byte_order = kByteOrder;
  header.major = kFormatMajor;
  header.minor = kFormatMinor;
  CopyPadded(header.writer, sizeof(header.writer), options_.writer);
  CopyPadded(header.role, sizeof(header.role), options_.role);
  header.start = options_.clock();
  header.process = options_.process;
  header.record_bytes = sizeof(Record);
  std::memcpy(map_, &header, sizeof(header));
  written_bytes_ = sizeof(header);
}

TraceWriter::~TraceWriter() {
  const bool own = generation_ == fork_generation.load();
  if (map_ != nullptr) munmap(map_, static_cast<size_t>(mapped_bytes_));
  // Gives back what was allocated ahead; a crash before this leaves zeros, which a reader passes
  // over.
  if (own && record_file_ >= 0 && ftruncate(record_file_, written_bytes_) != 0) quiet_ = true;
  if (record_file_ >= 0) close(record_file_);
  if (side_file_ >= 0) close(side_file_);
}

// Allocates for certain before mapping: on a sparse map a full disk would be a SIGBUS in the
// program.
bool TraceWriter::Grow() {
  const int error = posix_fallocate(record_file_, mapped_bytes_, kExtentBytes);
  if (error != 0) {
    errno = error;
    return false;
  }
  const size_t size = static_cast<size_t>(mapped_bytes_ + kExtentBytes);
  void* map = map_ == nullptr
                  ? mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, record_file_, 0)
                  : mremap(map_, static_cast<size_t>(mapped_bytes_), size, MREMAP_MAYMOVE);
  if (map == MAP_FAILED) return false;
  map_ = static_cast<char*>(map);
  mapped_bytes_ = static_cast<int64_t>(size);
  return true;
}

void TraceWriter::GoQuiet(const std::string& reason) {
  if (quiet_) return;
  quiet_ = true;
  if (map_ != nullptr && written_bytes_ + int64_t{sizeof(Record)} <= mapped_bytes_) {
    AppendUnchecked(Kind::kEvent, static_cast<uint16_t>(Event::kQuiet), Record{});
  }
  // Best effort: on a full disk this line may be lost, the record above is not.
  const std::string line = FormatLine({"attribute", "0", "quiet", reason});
  if (write(side_file_, line.data(), line.size()) < 0) return;
}

void TraceWriter::WriteLine(const std::string& line) {
  if (quiet_ || generation_ != fork_generation.load()) return;
  std::string_view rest = line;
  while (!rest.empty()) {
    const ssize_t put = write(side_file_, rest.data(), rest.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) {
      GoQuiet(std::string("names could not be written: ") + std::strerror(errno));
      return;
    }
    rest.remove_prefix(static_cast<size_t>(put));
  }
}

void TraceWriter::SetRank(uint16_t rank) {
  const std::lock_guard<std::mutex> lock(mutex_);
  options_.rank = rank;
}

void TraceWriter::AppendUnchecked(Kind kind, uint16_t number, Record fields) {
  fields.kind = Kind::kNone;
  fields.number = number;
  if (options_.rank != 0) fields.rank = options_.rank;
  fields.sequence = sequence_++;
  fields.time = options_.clock();
  char* at = map_ + written_bytes_;
  std::memcpy(at, &fields, sizeof(fields));
  // A reader trusts only records whose kind is set, so it is stored last.
  __atomic_store_n(reinterpret_cast<uint16_t*>(at), static_cast<uint16_t>(kind), __ATOMIC_RELEASE);
  written_bytes_ += sizeof(Record);
}

void TraceWriter::Append(Kind kind, uint16_t number, Record fields) {
  if (quiet_ || generation_ != fork_generation.load()) return;
  if (written_bytes_ + 2 * int64_t{sizeof(Record)} > options_.size_cap_bytes) {
    GoQuiet("the record file reached its cap of " + std::to_string(options_.size_cap_bytes) +
            " bytes");
    return;
  }
  // One slot always stays free for the record that says we went quiet.
  if (written_bytes_ + 2 * int64_t{sizeof(Record)} > mapped_bytes_ && !Grow()) {
    GoQuiet(std::string("the record file could not grow: ") + std::strerror(errno));
    return;
  }
  AppendUnchecked(kind, number, fields);
}

uint32_t TraceWriter::Thing(std::string_view kind, int ordinal, std::string_view name) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto [found, fresh] = things_.try_emplace({std::string(kind), ordinal, std::string(name)},
                                                  static_cast<uint32_t>(things_.size() + 1));
  if (fresh) {
    WriteLine(
        FormatLine({"thing", std::to_string(found->second), kind, std::to_string(ordinal), name}));
  }
  return found->second;
}

uint32_t TraceWriter::Site(std::string_view file, int line, std::string_view function) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto [found, fresh] = sites_.try_emplace({std::string(file), line, std::string(function)},
                                                 static_cast<uint32_t>(sites_.size() + 1));
  if (fresh) {
    WriteLine(
        FormatLine({"site", std::to_string(found->second), file, std::to_string(line), function}));
  }
  return found->second;
}

void TraceWriter::Attribute(uint32_t thing, std::string_view key, std::string_view value) {
  const std::lock_guard<std::mutex> lock(mutex_);
  WriteLine(FormatLine({"attribute", std::to_string(thing), key, value}));
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
