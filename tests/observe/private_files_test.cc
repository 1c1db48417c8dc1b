#include "checks/observe/launcher/private_files.h"

#include <fcntl.h>
#include <glob.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pwd.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <iterator>

#include "tests/temporary_folder.h"

namespace dlcheck {
namespace {

using testing::Contains;
using testing::IsEmpty;
using testing::IsSubsetOf;
using testing::Not;

constexpr int kNotAllowed = 3;

void Write(const std::string& path, const std::string& text) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  (void)!write(file, text.data(), text.size());
  close(file);
}

std::string Read(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Folders that layers of any process are kept in.
std::vector<std::string> Places() {
  std::vector<std::string> places;
  glob_t found = {};
  if (glob("/var/tmp/dlcheck-??????", 0, nullptr, &found) == 0) {
    places.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  }
  globfree(&found);
  return places;
}

bool Exists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

// Another process that is `user`, works in a folder of its own and may keep another one; what it
// does between enters the files that only it sees.
class PrivateFilesTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    user_ = getpwnam(GetParam());
    if (user_ == nullptr || (getuid() != 0 && getuid() != user_->pw_uid)) {
      GTEST_SKIP() << "this test cannot become the user '" << GetParam() << "'";
    }
    for (const std::string& made : {folder_.path(), Home(), Kept()}) {
      mkdir(made.c_str(), 0755);
      ASSERT_EQ(chown(made.c_str(), user_->pw_uid, user_->pw_gid), 0);
    }
  }

  std::string Home() const { return folder_.path() + "/home"; }
  std::string Kept() const { return folder_.path() + "/home/kept"; }

  // What was written; skips the test where the system allows no layers.
  std::vector<std::string> Written(const std::function<void()>& act) {
    int result[2];
    EXPECT_EQ(pipe(result), 0);
    const pid_t child = fork();
    if (child == 0) {
      const bool became = setgid(user_->pw_gid) == 0 && setuid(user_->pw_uid) == 0;
      prctl(PR_SET_DUMPABLE,
            1);  // which becoming another user takes away, as it would not from dlcheck
      if (!became || chdir(Home().c_str()) != 0) _exit(1);
      PrivateFiles files = PrivateFiles::Plan();
      files.Hide({Home() + "/hidden"});
      if (!replaced_.first.empty()) files.Replace(replaced_.first, replaced_.second);
      const pid_t inner = fork();
      if (inner == 0) {
        is_whole_ = files.Enter(Kept().c_str());
        act();
        _exit(Exists("a layer") ? 0 : kNotAllowed);
      }
      int status = 0;
      waitpid(inner, &status, 0);
      for (const std::string& path : files.Clear(99)) {
        (void)!write(result[1], (path + "\n").c_str(), path.size() + 1);
      }
      // In a layer of the inner process, and not in the folder itself.
      const bool is_private = WEXITSTATUS(status) == 0 && !Exists(Home() + "/a layer");
      _exit(is_private ? 0 : kNotAllowed);
    }
    close(result[1]);
    std::vector<std::string> lines(1);
    for (char one = 0; read(result[0], &one, 1) == 1;) {
      if (one == '\n') {
        lines.emplace_back();
      } else {
        lines.back() += one;
      }
    }
    close(result[0]);
    lines.pop_back();
    int status = 0;
    waitpid(child, &status, 0);
    is_allowed_ = WEXITSTATUS(status) != kNotAllowed;
    EXPECT_TRUE(!is_allowed_ || WEXITSTATUS(status) == 0);
    return lines;
  }

  passwd* user_ = nullptr;
  TemporaryFolder folder_;
  bool is_allowed_ = true;
  bool is_whole_ = false;                         // as the inner process finds it
  std::pair<std::string, std::string> replaced_;  // a file, and the one whose text it is to show
};

TEST_P(PrivateFilesTest, HideWhatIsWrittenAndKeepOneFolder) {
  Write(Home() + "/old", "before");
  ASSERT_EQ(chown((Home() + "/old").c_str(), user_->pw_uid, user_->pw_gid), 0);
  const std::vector<std::string> written = Written([this] {
    Write("a layer", "");
    Write("old", "after");
    Write(Home() + "/by its whole name", "");
    Write("kept/record", "");
  });
  if (!is_allowed_) GTEST_SKIP() << "this system lets that user mount no layer";
  EXPECT_THAT(written, Contains(Home() + "/old"));
  EXPECT_THAT(written, Not(Contains(Kept() + "/record")));
  struct stat info = {};
  EXPECT_EQ(stat((Home() + "/old").c_str(), &info), 0);
  EXPECT_EQ(info.st_size, 6);  // "before"
  EXPECT_FALSE(Exists(Home() + "/by its whole name"));
  EXPECT_TRUE(Exists(Kept() + "/record"));
}

TEST_P(PrivateFilesTest, CoverTemporaryFoldersAndHideWhatIsToBeHidden) {
  Write(Home() + "/hidden", "of the plain run");
  const std::string temporary = "/var/tmp/dlcheck-test-" + std::to_string(getpid());
  const std::vector<std::string> written = Written([&] {
    Write("a layer", "");
    Write(temporary, "");
    if (is_whole_) Write("all is private", "");
    if (Exists("hidden")) Write("seen", "");
  });
  if (!is_allowed_) GTEST_SKIP() << "this system lets that user mount no layer";
  if (std::ranges::find(written, Home() + "/all is private") == written.end()) {
    GTEST_SKIP() << "a file system of this machine can have no layer";
  }
  EXPECT_FALSE(Exists(temporary));
  EXPECT_THAT(written, Contains(temporary));
  EXPECT_THAT(written, Not(Contains(Home() + "/seen")));
  EXPECT_TRUE(Exists(Home() + "/hidden"));
}

// Without a layer over it, hiding would remove the file itself.
TEST(PrivateFiles, RemoveNothingWhereNoLayerIs) {
  const std::string path = "/dev/shm/dlcheck-test-" + std::to_string(getpid());
  const std::string own = "/var/tmp/dlcheck-test-" + std::to_string(getpid());
  Write(path, "");
  Write(own, "");
  PrivateFiles files = PrivateFiles::Plan();
  files.Hide({path, own});
  const pid_t child = fork();
  if (child == 0) _exit(files.Enter("/var") ? 1 : 0);
  int status = 0;
  waitpid(child, &status, 0);
  files.Clear(0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_TRUE(Exists(path));
  EXPECT_TRUE(Exists(own));
  unlink(path.c_str());
  unlink(own.c_str());
}

TEST_P(PrivateFilesTest, LetFoldersOfTheProgramBeRemovedAndMadeAgain) {
  mkdir((Home() + "/folder").c_str(), 0755);
  ASSERT_EQ(chown((Home() + "/folder").c_str(), user_->pw_uid, user_->pw_gid), 0);
  const std::vector<std::string> written = Written([] {
    Write("a layer", "");
    if (rmdir("folder") == 0 && mkdir("folder", 0755) == 0) Write("folder/inner", "");
  });
  if (!is_allowed_) GTEST_SKIP() << "this system lets that user mount no layer";
  EXPECT_THAT(written, Contains(Home() + "/folder/inner"));
  EXPECT_FALSE(Exists(Home() + "/folder/inner"));
}

TEST_P(PrivateFilesTest, AreGoneWhateverTheirRights) {
  const std::vector<std::string> before = Places();  // of runs that were killed
  const std::vector<std::string> written = Written([] {
    Write("a layer", "");
    for (const char* folder : {"locked", "locked/inner", "locked/inner/most"}) mkdir(folder, 0755);
    Write("locked/inner/most/file", "");
    for (const char* folder : {"locked/inner/most", "locked/inner", "locked"}) chmod(folder, 0);
  });
  if (!is_allowed_) GTEST_SKIP() << "this system lets that user mount no layer";
  EXPECT_THAT(written, Contains(Home() + "/locked/inner/most/file"));
  EXPECT_THAT(Places(), IsSubsetOf(before));
}

// The superuser alone can mount what a layer then covers.
TEST_P(PrivateFilesTest, ShowAnotherTextInAFileAndLeaveTheFileAlone) {
  Write(Kept() + "/text", "other");
  Write(Home() + "/program", "longer than the other");
  ASSERT_EQ(chown((Home() + "/program").c_str(), user_->pw_uid, user_->pw_gid), 0);
  replaced_ = {Home() + "/program", Kept() + "/text"};
  Written([this] {
    Write(Home() + "/a layer", "");
    Write(Kept() + "/seen", Read(Home() + "/program"));
  });
  EXPECT_EQ(Read(Home() + "/program"), "longer than the other");
  if (!is_allowed_) GTEST_SKIP() << "this system lets that user mount no layer";
  EXPECT_EQ(Read(Kept() + "/seen"), "other");
}

TEST_P(PrivateFilesTest, AreNotWholeWhereAReplacedFileHasNoLayer) {
  Write(Kept() + "/text", "other");
  replaced_ = {"/dev/shm/dlcheck-no-such-file", Kept() + "/text"};
  Written([this] {
    Write(Home() + "/a layer", "");
    Write(Kept() + "/whole", is_whole_ ? "yes" : "no");
  });
  if (!is_allowed_) GTEST_SKIP() << "this system lets that user mount no layer";
  EXPECT_EQ(Read(Kept() + "/whole"), "no");
}

TEST(PrivateFiles, LeaveWhatIsMountedBelowInItsPlace) {
  const TemporaryFolder folder;
  const pid_t child = fork();
  if (child == 0) {
    if (unshare(CLONE_NEWNS) != 0) _exit(kNotAllowed);
    mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
    for (const char* name : {"home", "home/a name", "home/other"}) {
      mkdir((folder / name).c_str(), 0755);
    }
    const bool are_mounted =
        mount("x", (folder / "home/a name").c_str(), "tmpfs", 0, nullptr) == 0 &&
        mount("x", (folder / "home/other").c_str(), "ramfs", 0, nullptr) == 0;
    if (!are_mounted || chdir((folder / "home").c_str()) != 0) _exit(kNotAllowed);
    Write("a name/data", "");
    Write("other/data", "");
    const PrivateFiles files = PrivateFiles::Plan();
    const pid_t inner = fork();
    if (inner == 0) {
      (void)files.Enter("/nowhere/at/all");
      _exit(Exists("a name/data") && Exists("other/data") ? 0 : 1);
    }
    int status = 0;
    waitpid(inner, &status, 0);
    files.Clear(0);
    _exit(WEXITSTATUS(status));
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WEXITSTATUS(status) == kNotAllowed) GTEST_SKIP() << "this test may mount nothing";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

INSTANTIATE_TEST_SUITE_P(Users, PrivateFilesTest, testing::Values("root", "nobody"));

TEST(PrivateFiles, OfNoPlanChangeNothing) {
  const PrivateFiles files;
  EXPECT_FALSE(files.Enter("/"));
  EXPECT_THAT(files.Clear(9), IsEmpty());
}

}  // namespace
}  // namespace dlcheck
