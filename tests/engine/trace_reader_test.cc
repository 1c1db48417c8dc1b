#include "checks/engine/trace_reader.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <limits>

#include "checks/records/crc32.h"
#include "checks/records/line_file.h"
#include "checks/records/trace_writer.h"
#include "tests/temporary_folder.h"

namespace dlcheck {
namespace {

void WriteProcess(const TemporaryFolder& folder, uint32_t process, uint16_t rank, double norm,
                  const std::string& run = "") {
  auto writer = TraceWriter::Create({.run_folder = folder.path(), .run = run, .process = process});
  ASSERT_TRUE(writer.ok());
  // Ids differ between processes; identity does not.
  if (rank == 1) (*writer)->Thing("parameter", 0, "another");
  Record fields{};
  fields.rank = rank;
  fields.thing = (*writer)->Thing("parameter", 0, "fc1.weight");
  fields.value = norm;
  (*writer)->PutQuantity(Quantity::kGradientNorm, fields);
  (*writer)->PutGap(Event::kStep, 64, 127, 64, Record{});
}

dlcheck::Run ReadRun(const TemporaryFolder& folder) {
  absl::StatusOr<RecordedRun> recorded = ReadRecordedRun(folder.path());
  EXPECT_TRUE(recorded.ok()) << recorded.status();
  return recorded.ok() ? std::move(recorded->run) : dlcheck::Run();
}

TEST(TraceReader, JoinsThingsOfSeveralProcessesByIdentity) {
  const TemporaryFolder folder;
  WriteProcess(folder, 1, 0, 0.25);
  WriteProcess(folder, 2, 1, 0.5);
  const dlcheck::Run run = ReadRun(folder);
  const Trace* const trace = &run.trace;
  const auto things = trace->ThingsWith(Quantity::kGradientNorm);
  ASSERT_EQ(things.size(), 1u);
  const auto samples = trace->Series(Quantity::kGradientNorm, things[0]);
  ASSERT_EQ(samples.size(), 2u);
  EXPECT_EQ(samples[1].rank, 1);
  EXPECT_EQ(trace->Display(things[0]), "fc1.weight");
}

TEST(TraceReader, TakesNoStepThatNoCounterReaches) {
  Record late{}, early{};
  late.step = std::numeric_limits<int64_t>::max() - 1;
  early.step = std::numeric_limits<int64_t>::min();
  for (const Record& fields : {late, early}) {
    const TemporaryFolder folder;
    {
      auto writer = TraceWriter::Create({.run_folder = folder.path(), .process = 1});
      ASSERT_TRUE(writer.ok());
      (*writer)->PutEvent(Event::kStep, fields);
    }
    const dlcheck::Run run = ReadRun(folder);
    ASSERT_EQ(run.losses.damaged.size(), 1u);
    EXPECT_NE(run.losses.damaged[0].find("impossible step"), std::string::npos);
    EXPECT_TRUE(run.trace.Events().empty());
  }
}

TEST(TraceReader, ReadsAGapAsWhatHappenedUnseen) {
  const TemporaryFolder folder;
  WriteProcess(folder, 1, 0, 0.25);
  const dlcheck::Run run = ReadRun(folder);
  ASSERT_EQ(run.trace.Events().size(), 1u);
  const Occurrence& gap = run.trace.Events()[0];
  EXPECT_TRUE(gap.gap);
  EXPECT_EQ(gap.event, Event::kStep);
  EXPECT_EQ(gap.step, 64);
  EXPECT_EQ(gap.last_step, 127);
  EXPECT_EQ(gap.count, 64);
}

// As if a later version had swapped two quantities' numbers; the seal says that nothing changed.
TEST(TraceReader, MapsNumbersByName) {
  const TemporaryFolder folder;
  WriteProcess(folder, 1, 0, 0.25);
  const std::string stem = folder.path() + "/records/1-0";
  std::string text = *ReadWholeFile(stem + ".names", 1 << 20);
  const std::string from = "quantity\t3\tgradient_norm\n", to = "quantity\t3\tweight_norm\n";
  text.replace(text.find(from), from.size(), to);
  ASSERT_TRUE(WriteWholeFile(stem + ".names", text).ok());
  const auto names =
      ReadNames(stem + ".names", {.names = text.size(), .names_sum = Crc32(text), .ended = true});
  ASSERT_TRUE(names.ok());
  EXPECT_EQ(names->quantities.at(3), Quantity::kWeightNorm);
  EXPECT_TRUE(ReadRun(folder).trace.ThingsWith(Quantity::kGradientNorm).empty());
}

TEST(TraceReader, SaysThatNamesAreNotThoseOfTheRecords) {
  const TemporaryFolder folder;
  WriteProcess(folder, 1, 1, 0.25);
  ASSERT_TRUE(WriteEnding(folder.path(), {Ending::How::kFinished, 0}).ok());
  EXPECT_TRUE(ReadRun(folder).losses.empty());
  const std::string path = folder.path() + "/records/1-0.names";
  const std::string text = *ReadWholeFile(path, 1 << 20);
  ASSERT_TRUE(WriteWholeFile(path, text.substr(0, text.find("thing\t2\t"))).ok());
  const dlcheck::Run cut = ReadRun(folder);
  ASSERT_EQ(cut.losses.damaged.size(), 1u);
  EXPECT_NE(cut.losses.damaged[0].find("was cut"), std::string::npos);
  EXPECT_TRUE(cut.trace.Events().empty());
}

TEST(TraceReader, SaysThatAProcessIsGoneOrWasCut) {
  const TemporaryFolder folder;
  WriteProcess(folder, 1, 0, 0.25);
  WriteProcess(folder, 2, 1, 0.25);
  ASSERT_TRUE(WriteEnding(folder.path(), {Ending::How::kFinished, 0}).ok());
  const std::string records = folder.path() + "/records/2-0.records";
  const std::string bytes = *ReadWholeFile(records, 1 << 20);
  ASSERT_TRUE(WriteWholeFile(records, bytes.substr(0, bytes.size() - 64)).ok());
  ASSERT_EQ(ReadRun(folder).losses.damaged.size(), 1u);
  EXPECT_NE(ReadRun(folder).losses.damaged[0].find("was cut"), std::string::npos);
  std::filesystem::remove(records);
  EXPECT_EQ(ReadRun(folder).losses.damaged[0], "the records of process 2-0 are gone");
}

TEST(TraceReader, LeavesOutRecordsOfAnotherRun) {
  const TemporaryFolder folder;
  Request request;
  request.run_folder = folder.path();
  request.run = "this";
  ASSERT_TRUE(WriteWholeFile(folder / "request", FormatRequest(request)).ok());
  WriteProcess(folder, 1, 0, 0.25, "that");
  const dlcheck::Run run = ReadRun(folder);
  EXPECT_TRUE(run.trace.Events().empty());
  ASSERT_EQ(run.losses.damaged.size(), 1u);
  EXPECT_NE(run.losses.damaged[0].find("another run"), std::string::npos);
}

TEST(TraceReader, SaysThatARunHasNoEnding) {
  const TemporaryFolder folder;
  WriteProcess(folder, 1, 0, 0.25);
  EXPECT_EQ(ReadRun(folder).losses.missing.size(), 1u);
}

TEST(TraceReader, SaysNotFoundWhereNothingWasRecorded) {
  const TemporaryFolder folder;
  EXPECT_TRUE(absl::IsNotFound(ReadRecordedRun(folder.path()).status()));
}

TEST(TraceReader, TakesARunWithoutRecordsAsEvidenceOfItsEnding) {
  const TemporaryFolder folder;
  ASSERT_TRUE(WriteEnding(folder.path(), {Ending::How::kKilled, 11}).ok());
  const auto recorded = ReadRecordedRun(folder.path());
  ASSERT_TRUE(recorded.ok());
  EXPECT_EQ(recorded->run.ending.how, Ending::How::kKilled);
  EXPECT_EQ(recorded->run.ending.status, 11);
  EXPECT_TRUE(recorded->experiment == kPlain);
}

TEST(TraceReader, KeepsWhatStoppedARun) {
  const TemporaryFolder folder;
  ASSERT_TRUE(WriteEnding(folder.path(), {Ending::How::kStopped, 143, "SIGTERM"}).ok());
  const auto recorded = ReadEnding(folder.path());
  ASSERT_TRUE(recorded.ok()) << recorded.status();
  const Ending& ending = recorded->ending;
  EXPECT_EQ(ending.how, Ending::How::kStopped);
  EXPECT_EQ(ending.status, 143);
  EXPECT_EQ(ending.stopped_by, "SIGTERM");
}

TEST(TraceReader, RefusesAnExperimentItDoesNotKnow) {
  const TemporaryFolder folder;
  Request request;
  request.run_folder = folder.path();
  request.experiment = "sideways";
  ASSERT_TRUE(WriteWholeFile(folder / "request", FormatRequest(request)).ok());
  WriteProcess(folder, 1, 0, 0.25);
  EXPECT_TRUE(absl::IsInvalidArgument(ReadRecordedRun(folder.path()).status()));
}

}  // namespace
}  // namespace dlcheck
