#include "checks/engine/trace_reader.h"

#include <gtest/gtest.h>

#include <fstream>

#include "checks/records/line_file.h"
#include "checks/records/trace_writer.h"
#include "tests/temporary_folder.h"

namespace dlcheck {
namespace {

void WriteProcess(const TemporaryFolder& folder, uint32_t process, uint16_t rank, double norm) {
  auto writer = TraceWriter::Create({.run_folder = folder.path(), .process = process});
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

TEST(TraceReader, JoinsThingsOfSeveralProcessesByIdentity) {
  const TemporaryFolder folder;
  WriteProcess(folder, 1, 0, 0.25);
  WriteProcess(folder, 2, 1, 0.5);
  const auto trace = ReadTrace(folder.path());
  ASSERT_TRUE(trace.ok()) << trace.status();
  const auto things = trace->ThingsWith(Quantity::kGradientNorm);
  ASSERT_EQ(things.size(), 1u);
  const auto samples = trace->Series(Quantity::kGradientNorm, things[0]);
  ASSERT_EQ(samples.size(), 2u);
  EXPECT_EQ(samples[1].rank, 1);
  EXPECT_EQ(trace->Display(things[0]), "fc1.weight");
}

TEST(TraceReader, ReadsAGapAsWhatHappenedUnseen) {
  const TemporaryFolder folder;
  WriteProcess(folder, 1, 0, 0.25);
  const auto trace = ReadTrace(folder.path());
  ASSERT_EQ(trace->Events().size(), 1u);
  const Occurrence& gap = trace->Events()[0];
  EXPECT_TRUE(gap.gap);
  EXPECT_EQ(gap.event, Event::kStep);
  EXPECT_EQ(gap.step, 64);
  EXPECT_EQ(gap.last_step, 127);
  EXPECT_EQ(gap.count, 64);
}

TEST(TraceReader, MapsNumbersByName) {
  const TemporaryFolder folder;
  WriteProcess(folder, 1, 0, 0.25);
  const std::string path = folder.path() + "/records/1-0.names";
  std::string text = *ReadWholeFile(path, 1 << 20);
  // As if a later version had swapped two quantities' numbers.
  const auto rename = [&](const std::string& from, const std::string& to) {
    text.replace(text.find(from), from.size(), to);
  };
  rename("quantity\t3\tgradient_norm\n", "quantity\t3\tweight_norm\n");
  ASSERT_TRUE(WriteWholeFile(path, text).ok());
  const auto trace = ReadTrace(folder.path());
  EXPECT_TRUE(trace->ThingsWith(Quantity::kGradientNorm).empty());
  EXPECT_EQ(trace->ThingsWith(Quantity::kWeightNorm).size(), 1u);
}

// As in a run that goes on: the names were read before the second parameter's was written.
TEST(TraceReader, StopsBeforeARecordWhoseNameItHasNotRead) {
  const TemporaryFolder folder;
  WriteProcess(folder, 1, 1, 0.25);
  const std::string path = folder.path() + "/records/1-0.names";
  std::string text = *ReadWholeFile(path, 1 << 20);
  const size_t line = text.find("thing\t2\t");
  ASSERT_NE(line, std::string::npos);
  ASSERT_TRUE(WriteWholeFile(path, text.substr(0, line)).ok());
  const auto trace = ReadTrace(folder.path());
  ASSERT_TRUE(trace.ok()) << trace.status();
  EXPECT_TRUE(trace->ThingsWith(Quantity::kGradientNorm).empty());
  EXPECT_TRUE(trace->Events().empty());
  EXPECT_TRUE(trace->ProcessAttribute("damaged").empty());
}

TEST(TraceReader, SaysNotFoundWhereNothingWasRecorded) {
  const TemporaryFolder folder;
  EXPECT_TRUE(absl::IsNotFound(ReadTrace(folder.path()).status()));
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
  const Ending ending = ReadEnding(folder.path());
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
