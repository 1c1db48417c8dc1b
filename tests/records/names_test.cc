#include "checks/records/names.h"

#include <gtest/gtest.h>

#include <fstream>

#include "checks/records/crc32.h"
#include "tests/temporary_folder.h"

namespace dlcheck {
namespace {

Expected<Names> ReadSideFile(const std::string& text, size_t bytes, uint32_t sum) {
  TemporaryFolder folder;
  const std::string path = folder / "1-0.names";
  std::ofstream(path, std::ios::binary) << text;
  Extent extent;
  extent.names = bytes;
  extent.names_sum = sum;
  return ReadNames(path, extent);
}

Expected<Names> ReadWhole(const std::string& text) {
  return ReadSideFile(text, text.size(), Crc32(text));
}

TEST(Names, AreReadFromTheirLines) {
  const auto names = ReadWhole(
      "format\t2.0\nwriter\tpython\t1.2\nrun\tabc\nevent\t7\tstep\nquantity\t9\tloss\n"
      "thing\t3\tparameter\t1\tfc.weight\nsite\t4\ttrain.py\t12\tmain\n"
      "attribute\t3\tdtype\tfloat32\nattribute\t0\tquiet\tdisk full\n");
  ASSERT_TRUE(names.ok());
  EXPECT_EQ(names->writer, "python");
  EXPECT_EQ(names->writer_version, "1.2");
  EXPECT_EQ(names->run, "abc");
  EXPECT_EQ(names->events.at(7), Event::kStep);
  EXPECT_EQ(names->quantities.at(9), Quantity::kLoss);
  const NamedThing& thing = names->things.at(3);
  EXPECT_EQ(thing.kind, "parameter");
  EXPECT_EQ(thing.ordinal, 1);
  EXPECT_EQ(thing.name, "fc.weight");
  EXPECT_EQ(thing.attributes.at("dtype"), "float32");
  EXPECT_EQ(names->sites.at(4).file, "train.py");
  EXPECT_EQ(names->sites.at(4).line, 12);
  EXPECT_EQ(names->sites.at(4).function, "main");
  EXPECT_EQ(names->process.at("quiet"), "disk full");
}

TEST(Names, PassOverLinesThatAreUnknownOrTooShort) {
  const auto names = ReadWhole(
      "format\t2.0\nwriter\tpython\nrun\nevent\t7\nquantity\t9\nthing\t3\tparameter\t1\n"
      "site\t4\ttrain.py\t12\nattribute\t0\tquiet\nattribute\t5\tdtype\tfloat32\n"
      "colour\t1\t2\t3\t4\n");
  ASSERT_TRUE(names.ok());
  EXPECT_EQ(names->writer + names->run, "");
  EXPECT_TRUE(names->events.empty() && names->quantities.empty());
  EXPECT_TRUE(names->things.empty() && names->sites.empty() && names->process.empty());
}

TEST(Names, OfANewerWriterMayBeUnknown) {
  const auto names = ReadWhole("format\t2.9\nevent\t7\tno such event\n");
  ASSERT_TRUE(names.ok());
  EXPECT_EQ(names->events.at(7), Event::kNone);
}

TEST(Names, AreRefusedWhereTheyAreCutOrDamagedOrNone) {
  const std::string text = "format\t2.0\nrun\tabc\n";
  const auto cut = ReadSideFile(text, text.size() + 1, Crc32(text));
  ASSERT_FALSE(cut.ok());
  EXPECT_EQ(cut.failure().cause, Failure::Cause::kDamaged);
  const auto damaged = ReadSideFile(text, text.size(), Crc32(text) + 1);
  ASSERT_FALSE(damaged.ok());
  EXPECT_EQ(damaged.failure().cause, Failure::Cause::kDamaged);
  const auto none = ReadWhole("run\tabc\n");
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.failure().cause, Failure::Cause::kInvalid);
}

TEST(Names, BehindTheExtentAreNotRead) {
  const std::string text = "format\t2.0\nrun\tabc\n";
  const auto names = ReadSideFile(text + "run\tlater\n", text.size(), Crc32(text));
  ASSERT_TRUE(names.ok());
  EXPECT_EQ(names->run, "abc");
}

TEST(Names, OfEventsAndQuantitiesAreFoundBothWays) {
  EXPECT_EQ(EventName(Event::kStep), "step");
  EXPECT_EQ(EventNamed("step"), Event::kStep);
  EXPECT_EQ(EventNamed("no such event"), Event::kNone);
  EXPECT_EQ(QuantityName(Quantity::kLoss), "loss");
  EXPECT_EQ(QuantityNamed("loss"), Quantity::kLoss);
  EXPECT_EQ(QuantityNamed("no such quantity"), Quantity::kNone);
}

}  // namespace
}  // namespace dlcheck
