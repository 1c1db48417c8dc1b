// Whatever becomes of the files of a run: what is read of them is what was written, or it is said
// that it is not.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <random>

#include "checks/engine/text.h"
#include "checks/engine/trace_reader.h"
#include "checks/records/line_file.h"
#include "checks/records/trace_writer.h"
#include "tests/temporary_folder.h"

namespace dlcheck {
namespace {

using Files = std::map<std::string, std::string>;  // contents by path
// So many take eight seconds; DLCHECK_MUTATIONS sets another number.
constexpr int kMutations = 20'000;
constexpr uint64_t kSeed = 20261123;

Files ContentsBelow(const std::string& folder) {
  Files files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) files[entry.path()] = *ReadWholeFile(entry.path(), 1 << 20);
  }
  return files;
}

void WriteRun(const std::string& folder) {
  Request request;
  request.run_folder = folder;
  request.run = "a1b2";
  ASSERT_TRUE(WriteWholeFile(folder + "/request", FormatRequest(request)).ok());
  for (uint32_t process = 1; process <= 2; ++process) {
    auto writer = TraceWriter::Create({.run_folder = folder, .run = "a1b2", .process = process});
    ASSERT_TRUE(writer.ok());
    for (int64_t step = 0; step < 6; ++step) {
      Record fields{};
      fields.step = step;
      fields.thing = (*writer)->Thing("parameter", 0, StrCat("layer", step, ".weight"));
      fields.site = (*writer)->Site("train.py", static_cast<int>(step), "main");
      fields.value = 0.5;
      (*writer)->PutQuantity(Quantity::kGradientNorm, fields);
      (*writer)->PutEvent(Event::kStep, fields);
      if (step % 2 == 0) (*writer)->Flush();
    }
  }
  ASSERT_TRUE(WriteEnding(folder, {Ending::How::kFinished, 0}).ok());
}

// All that a check could read of a run.
std::string Shown(const RecordedRun& recorded) {
  const dlcheck::Run& run = recorded.run;
  std::string text = StrCat(Describe(recorded.experiment), EndingName(run.ending.how), " ",
                            run.ending.status, run.ending.stopped_by, "\n");
  for (const Occurrence& event : run.trace.Events()) {
    StrAppend(&text, static_cast<int>(event.event), " ", event.step, " ", event.thing, " ",
              event.site, " ", event.order, "\n");
  }
  for (const NamedThing& thing : run.trace.things()) StrAppend(&text, thing.kind, thing.name);
  for (const NamedSite& site : run.trace.sites()) StrAppend(&text, site.file, site.line);
  for (const ThingId thing : run.trace.ThingsWith(Quantity::kGradientNorm)) {
    for (const Sample& sample : run.trace.Series(Quantity::kGradientNorm, thing)) {
      StrAppend(&text, sample.step, " ", sample.value, " ", sample.order, "\n");
    }
  }
  return text;
}

class Mutator {
 public:
  // One of the ways in which files are damaged, drawn.
  std::string Mutated(std::string bytes, const std::string& other) {
    if (bytes.empty()) return other;
    const size_t at = Below(bytes.size());
    switch (Below(8)) {
      case 0:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << Below(8)));
        break;
      case 1:
        bytes.resize(at);
        break;
      case 2:  // a block that the disk lost
        for (size_t i = at; i < std::min(bytes.size(), at + (size_t{8} << Below(8))); ++i)
          bytes[i] = 0;
        break;
      case 3:
        bytes.erase(at, 1 + Below(128));
        break;
      case 4:
        bytes.insert(at, bytes.substr(Below(bytes.size()), 1 + Below(128)));
        break;
      case 5:  // a record
        bytes.erase(at / 64 * 64, 64);
        break;
      case 6:  // a line
        bytes.erase(at, bytes.find('\n', at) - at);
        break;
      default:
        bytes = other;  // that of another process, or of another kind
    }
    return bytes;
  }
  size_t Below(size_t count) {
    return std::uniform_int_distribution<size_t>(0, count - 1)(random_);
  }

 private:
  std::mt19937_64 random_{kSeed};
};

TEST(Mutations, AreNeverTakenWithoutAWord) {
  const TemporaryFolder folder;
  WriteRun(folder.path());
  const Files files = ContentsBelow(folder.path());
  const auto whole = ReadRecordedRun(folder.path());
  ASSERT_TRUE(whole.ok() && whole->run.losses.empty());
  const std::string shown = Shown(*whole);
  Mutator mutator;
  int said = 0;
  const char* const wanted = std::getenv("DLCHECK_MUTATIONS");
  const int count = wanted == nullptr ? kMutations : std::atoi(wanted);
  for (int i = 0; i < count; ++i) {
    const auto& [path, bytes] =
        *std::next(files.begin(), static_cast<long>(mutator.Below(files.size())));
    const auto& other = *std::next(files.begin(), static_cast<long>(mutator.Below(files.size())));
    if (mutator.Below(50) == 0) {
      std::filesystem::remove(path);
    } else {
      ASSERT_TRUE(WriteWholeFile(path, mutator.Mutated(bytes, other.second)).ok());
    }
    const auto read = ReadRecordedRun(folder.path());
    const bool is_said = !read.ok() || !read->run.losses.empty();
    ASSERT_TRUE(is_said || Shown(*read) == shown) << path << " at mutation " << i;
    said += is_said ? 1 : 0;
    ASSERT_TRUE(WriteWholeFile(path, bytes).ok());
  }
  RecordProperty("said", said);
  EXPECT_GT(said, count * 9 / 10);
}

}  // namespace
}  // namespace dlcheck
