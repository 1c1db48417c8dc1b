// The C++ side of the goldens that both writers are held to, byte for byte; the Python side is
// golden_records_test.py. Rewritten with DLCHECK_UPDATE_GOLDENS=1.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "checks/records/digest.h"
#include "checks/records/line_file.h"
#include "checks/records/sampling.h"
#include "checks/records/trace_writer.h"

namespace dlcheck {
namespace {

const std::string kGoldens = std::string(DLCHECK_SOURCE_DIR) + "/tests/golden/records/";
constexpr size_t kLimit = 1 << 20;

void ExpectGolden(const std::string& name, const std::string& text) {
  if (std::getenv("DLCHECK_UPDATE_GOLDENS") != nullptr) {
    ASSERT_TRUE(WriteWholeFile(kGoldens + name, text).ok());
  }
  const Expected<std::string> golden = ReadWholeFile(kGoldens + name, kLimit);
  ASSERT_TRUE(golden.ok()) << golden.failure().message;
  EXPECT_TRUE(*golden == text) << name << " differs";
}

uint64_t CountingClock() {
  static uint64_t time = 1000;
  return time += 10;
}

Record Fields(int64_t step, uint32_t micro_step, uint32_t thing, uint32_t site, uint32_t owner,
              double value, double aux) {
  Record record{};
  record.step = step;
  record.micro_step = micro_step;
  record.thing = thing;
  record.site = site;
  record.owner = owner;
  record.value = value;
  record.aux = aux;
  return record;
}

void WriteSmallTrace(TraceWriter& writer) {
  writer.Attribute(0, "program", "train\tme.py 100% \xC3\xA9");
  const uint32_t weight = writer.Thing("parameter", 0, "fc1.weight");
  const uint32_t loss = writer.Thing("loss", 0, "cross_entropy");
  const uint32_t site = writer.Site("/home/me/train.py", 84, "main");
  writer.Attribute(weight, "shape", "10x64");
  EXPECT_EQ(writer.Thing("parameter", 0, "fc1.weight"), weight);
  writer.PutEvent(Event::kBackward, Fields(0, 0, loss, site, 0, 0, 0));
  writer.PutQuantity(Quantity::kLoss, Fields(0, 0, loss, site, 0, 2.302585092994046, 64));
  writer.PutQuantity(Quantity::kGradientNorm,
                     Fields(0, 1, weight, 0, 1, std::numeric_limits<double>::quiet_NaN(), 640));
  writer.PutQuantity(Quantity::kWeightNorm, Fields(7, 4000000000u, weight, 0, 1,
                                                   -std::numeric_limits<double>::infinity(), 0));
  writer.PutGap(Event::kStep, 64, 71, 8, Record{});
  writer.PutEvent(Event::kStep, Fields(72, 1, 0, 0, 0, 0, 0));
}

TEST(GoldenRecords, AreWrittenByteForByte) {
  const std::string folder = testing::TempDir() + "dlcheck_golden_records";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  {
    TraceWriter::Options options;
    options.run_folder = folder;
    options.writer = "golden";
    options.role = "child";
    options.size_cap_bytes = 11 * 64;  // the last record says that the cap was reached
    options.clock = &CountingClock;
    options.process = 4242;
    Expected<std::unique_ptr<TraceWriter>> writer = TraceWriter::Create(options);
    ASSERT_TRUE(writer.ok()) << writer.failure().message;
    WriteSmallTrace(**writer);
  }
  for (const char* ending : {"records", "names"}) {
    const auto bytes = ReadWholeFile(folder + "/records/4242-0." + ending, kLimit);
    ASSERT_TRUE(bytes.ok()) << bytes.failure().message;
    ExpectGolden(std::string("small.") + ending, *bytes);
  }
}

TEST(GoldenRecords, HoldSampledStepsAndDigests) {
  std::string text;
  for (int64_t step = 0; step < 5000; ++step) {
    if (IsSampled(step) && (step == 0 || !IsSampled(step - 1))) {
      text += "sampled " + std::to_string(step);
    }
    if (IsSampled(step) && !IsSampled(step + 1)) text += " to " + std::to_string(step) + "\n";
  }
  for (int64_t step = 0; step < 5000; ++step) {
    if (TakesDigest(step)) text += "digest at " + std::to_string(step) + "\n";
  }
  for (const size_t size : {0, 1, 8, 13, 4096, 600001}) {
    std::vector<uint8_t> bytes(size);
    for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<uint8_t>(i * 7 + 3);
    text += "digest of " + std::to_string(size) + " bytes " +
            std::to_string(Digest(bytes.data(), bytes.size())) + "\n";
  }
  ExpectGolden("numbers.txt", text);
}

}  // namespace
}  // namespace dlcheck
