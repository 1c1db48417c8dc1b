#include "checks/observe/launcher/written_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "absl/time/clock.h"
#include "tests/temporary_folder.h"

namespace dlcheck {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

void Write(const std::string& path) { std::ofstream(path) << "x"; }

TEST(MadeSince, ListsWhatWasMadeAFolderAfterWhatItHolds) {
  const TemporaryFolder folder;
  Write(folder / "before");
  mkdir((folder / "kept").c_str(), 0755);
  usleep(50'000);  // the clock of files is coarse
  const absl::Time since = absl::Now();
  usleep(50'000);
  Write(folder / "before");  // written again is not made
  mkdir((folder / "made").c_str(), 0755);
  Write(folder / "made/inner");
  Write(folder / "kept/record");
  const std::vector<std::string> made = MadeSince({folder.path()}, since, folder / "kept");
  if (made.empty()) GTEST_SKIP() << "this file system does not know when a file was made";
  EXPECT_THAT(made, ElementsAre(folder / "made/inner", folder / "made"));
  EXPECT_THAT(ChangedSince({folder.path()}, since, folder / "kept"),
              ElementsAre(folder / "before"));
  EXPECT_THAT(MadeSince({folder / "nowhere"}, since, ""), IsEmpty());
}

}  // namespace
}  // namespace dlcheck
