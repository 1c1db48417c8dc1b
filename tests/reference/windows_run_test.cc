// The program on data that is larger than what it may read whole.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "fixtures/format/write_fixture.h"
#include "tests/temporary_folder.h"

namespace dlcheck {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr int64_t kRows = 2400;
constexpr int64_t kPixels = 28 * 28;

// 1.8 MiB of images in rows sorted by class, which is the stripe that is bright.
Fixture Stripes() {
  Fixture fixture;
  fixture.name = fixture.version = fixture.task = fixture.license = "made";
  fixture.source = fixture.generator = fixture.created_by = "tests";
  fixture.x_layout = "NCHW";
  fixture.sample_shape = {1, 28, 28};
  fixture.class_names = {"a", "b", "c", "d"};
  fixture.splits.policy = "random";
  for (int64_t row = 0; row < kRows; ++row) {
    const int64_t label = row * 4 / kRows;
    for (int64_t i = 0; i < kPixels; ++i) {
      const bool bright = i * 4 / kPixels == label;
      fixture.x.push_back(static_cast<uint8_t>((row * 31 + i * 17) % 64 + (bright ? 40 : 0)));
    }
    fixture.y.push_back(label);
    fixture.id.push_back(static_cast<uint64_t>(row));
    (row % 5 == 4 ? fixture.splits.val : fixture.splits.train)
        .push_back(static_cast<uint32_t>(row));
  }
  fixture.statistics = TrainingStatistics(fixture);
  return fixture;
}

std::string ReadAll(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class WindowsRun : public testing::Test {
 protected:
  WindowsRun() { EXPECT_TRUE(WriteFixture(data_, Stripes()).ok()); }

  // The tensors that the run leaves in a checkpoint folder of this name.
  std::string StateOf(const std::string& name, const std::string& arguments) {
    EXPECT_EQ(Train("--checkpoints " + (folder_ / name) + " " + arguments), 0) << error_;
    const std::string state = ReadAll(folder_ / name + "/step-000000060/state.safetensors");
    EXPECT_FALSE(state.empty()) << name;
    return state;
  }

  int Train(const std::string& arguments) {
    const std::string command = "OMP_NUM_THREADS=1 exec " DLCHECK_BINARY_DIR "/bin/dlcheck-train" +
                                std::string(" --data ") + data_ + " --steps 60 --batch-size 64 " +
                                arguments + " >" + (folder_ / "out") + " 2>" + (folder_ / "error");
    const int status = WEXITSTATUS(std::system(command.c_str()));
    out_ = ReadAll(folder_ / "out");
    error_ = ReadAll(folder_ / "error");
    return status;
  }

  TemporaryFolder folder_;
  std::string data_ = folder_ / "stripes.h5";
  std::string out_, error_;
};

constexpr char kWindows[] = "--read-limit-mib 1 ";

TEST_F(WindowsRun, LearnsAsFromDataThatIsReadWhole) {
  for (const char* how : {kWindows, "", "--read-limit-mib 1 --model resnet --width 4"}) {
    ASSERT_EQ(Train(how), 0) << error_;
    EXPECT_EQ(error_, "");
    EXPECT_THAT(out_, HasSubstr("finished 60 steps  val loss 0.0")) << how;
  }
}

TEST_F(WindowsRun, IsTheSameForTheSameSeedAndAnyThreads) {
  const std::string state = StateOf("first", kWindows);
  EXPECT_EQ(StateOf("again", kWindows), state);
  EXPECT_EQ(StateOf("threads", std::string(kWindows) + "--prefetch-threads 3"), state);
  EXPECT_NE(StateOf("seed", std::string(kWindows) + "--seed-order 5"), state);
  EXPECT_NE(StateOf("whole", ""), state);
}

TEST_F(WindowsRun, IsTheSameWhenItIsInterrupted) {
  const std::string state = StateOf("whole", kWindows);
  const std::string interrupted = "--checkpoints " + (folder_ / "parts") + " " + kWindows;
  ASSERT_EQ(Train(interrupted + "--stop-after 37"), 0) << error_;
  EXPECT_EQ(StateOf("parts", std::string(kWindows) + "--resume"), state);
}

TEST_F(WindowsRun, RefusesAChangedSampleByName) {
  const Fixture fixture = Stripes();
  std::string bytes = ReadAll(data_);
  const size_t x = bytes.find(std::string(fixture.x.begin(), fixture.x.begin() + kPixels));
  ASSERT_NE(x, std::string::npos);
  bytes[x + 2000 * kPixels] ^= 1;
  std::ofstream(data_, std::ios::binary) << bytes;
  const std::string reason = "dlcheck-train: '" + data_ +
                             "': row 2000: x, y and id were not written together (pair_hash "
                             "differs)\n";
  for (const char* how : {"", kWindows}) {
    EXPECT_EQ(Train(how), 2);
    EXPECT_EQ(error_, reason);
    EXPECT_EQ(out_, "");
  }
}

}  // namespace
}  // namespace dlcheck
