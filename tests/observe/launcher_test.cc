#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "checks/engine/clock.h"
#include "checks/observe/launcher/abandoned_folders.h"
#include "checks/observe/launcher/child_output.h"
#include "checks/observe/launcher/linked_torch.h"
#include "checks/observe/launcher/network.h"
#include "checks/observe/launcher/signal_guard.h"
#include "tests/temporary_folder.h"

namespace dlcheck {
namespace {

using testing::HasSubstr;

constexpr size_t kRoom = 1000;
const absl::Duration kLong = absl::Seconds(60);

// What became of a child that runs this; its exit status, or -1 where a signal ended it.
template <typename Body>
int StatusOfChild(Body body) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    _exit(body());
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(OutputOf, IsAllThatACommandWrote) {
  EXPECT_EQ(*OutputOf({"printf", "one\\ntwo"}, {}, kLong, kRoom), "one\ntwo");
  EXPECT_EQ(*OutputOf({"sh", "-c", "echo $GIVEN; cat"}, {"GIVEN=word"}, kLong, kRoom), "word\n");
}

TEST(OutputOf, SaysWhatWentWrong) {
  const auto of = [](const char* script, size_t room = kRoom) {
    return std::string(OutputOf({"sh", "-c", script}, {}, kLong, room).status().message());
  };
  EXPECT_THAT(of("exit 3"), HasSubstr("sh failed"));
  EXPECT_THAT(of("echo far too much", 4), HasSubstr("said too much"));
  EXPECT_THAT(std::string(OutputOf({"/no/such"}, {}, kLong, kRoom).status().message()),
              HasSubstr("cannot start /no/such"));
}

TEST(OutputOf, EndsACommandThatTakesTooLong) {
  const absl::Duration begin = MonotonicNow();
  const auto output = OutputOf({"sleep", "600"}, {}, absl::Milliseconds(50), kRoom);
  EXPECT_THAT(std::string(output.status().message()), HasSubstr("took too long"));
  EXPECT_LT(MonotonicNow() - begin, absl::Seconds(300));
}

TEST(LinkedTorch, TellsProgramsInMachineCodeFromScripts) {
  TemporaryFolder folder;
  std::ofstream(folder / "script") << "#!/bin/sh\n";
  chmod((folder / "script").c_str(), 0755);
  std::filesystem::copy_file("/bin/sh", folder / "copy");
  EXPECT_TRUE(NamesProgram("sh"));
  EXPECT_TRUE(NamesProgram(folder / "copy"));
  EXPECT_FALSE(NamesProgram(folder / "script"));
  EXPECT_FALSE(NamesProgram("no-such-program"));
  EXPECT_FALSE(NamesProgram(""));
  chmod((folder / "copy").c_str(), 0644);
  EXPECT_FALSE(NamesProgram(folder / "copy"));
}

TEST(LinkedTorch, IsNoneOfAProgramThatIsNotLinkedWithIt) {
  EXPECT_EQ(LinkedTorch({"sh", "-c", "true"}), "");
  EXPECT_EQ(LinkedTorch({}), "");
}

TEST(BuildId, IsThatWhichTheLinkerWrote) {
  const std::string own = BuildIdOf("/proc/self/exe");
  const auto notes = OutputOf({"readelf", "-n", std::filesystem::read_symlink("/proc/self/exe")},
                              {}, kLong, size_t{1} << 20);
  if (!notes.ok()) GTEST_SKIP() << "readelf of binutils is missing";
  if (notes->find("Build ID: ") == std::string::npos) GTEST_SKIP() << "the linker writes none";
  EXPECT_THAT(*notes, HasSubstr("Build ID: " + own + "\n"));
  EXPECT_FALSE(own.empty());
}

TEST(BuildId, IsNoneOfWhatIsNoProgram) {
  TemporaryFolder folder;
  std::ofstream(folder / "text") << std::string(200, 'x');
  EXPECT_EQ(BuildIdOf(folder / "text"), "");
  EXPECT_EQ(BuildIdOf(folder / "none"), "");
}

TEST(Network, IsCutToALoopbackDevice) {
  if (!CanCutNetwork()) GTEST_SKIP() << "this system gives no network of its own";
  EXPECT_EQ(StatusOfChild([] { return geteuid() != 0 || CutNetwork() ? 0 : 1; }), 0);
  // Descriptor 0 is as good as any.
  EXPECT_EQ(StatusOfChild([] {
              close(STDIN_FILENO);
              return CanCutNetwork() ? 0 : 1;
            }),
            0);
}

TEST(SignalGuard, PassesOnWhatWasSentToTheSupervisorAlone) {
  EXPECT_EQ(StatusOfChild([] {
              const pid_t command = fork();
              while (command == 0) pause();
              SignalGuard guard;
              SignalGuard::PassOnTo(command);
              raise(SIGTERM);
              int status = 0;
              while (waitpid(command, &status, 0) < 0) {
              }
              const bool reached = WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM;
              return reached && LastSignal() == SIGTERM ? 0 : 1;
            }),
            0);
}

TEST(SignalGuard, LeavesIgnoredSignalsAloneAndRestoresTheRest) {
  EXPECT_EQ(StatusOfChild([] {
              signal(SIGHUP, SIG_IGN);
              RememberSignals();
              {
                SignalGuard guard;
                raise(SIGHUP);
                if (LastSignal() != 0) return 1;
                raise(SIGINT);
                if (LastSignal() != SIGINT) return 2;
              }
              struct sigaction action = {};
              sigaction(SIGINT, nullptr, &action);
              return action.sa_handler == SIG_DFL ? 0 : 3;
            }),
            0);
  EXPECT_STREQ(SignalName(SIGHUP), "SIGHUP");
  EXPECT_STREQ(SignalName(SIGUSR1), "a signal");
}

TEST(AbandonedFolders, GoWhereNobodyHoldsThem) {
  TemporaryFolder place;
  for (const char* name : {"dlcheck-abc123", "dlcheck-held12", "dlcheck-longer1", "other-abc123"}) {
    mkdir((place / name).c_str(), 0700);
  }
  std::ofstream(place / "dlcheck-abc123/file") << "x";
  const int held = open((place / "dlcheck-held12").c_str(), O_RDONLY | O_DIRECTORY);
  ASSERT_EQ(flock(held, LOCK_EX | LOCK_NB), 0);
  RemoveAbandonedFoldersIn(place.path(), 60);
  EXPECT_TRUE(std::filesystem::exists(place / "dlcheck-abc123")) << "it is young";
  RemoveAbandonedFoldersIn(place.path(), -60);
  EXPECT_FALSE(std::filesystem::exists(place / "dlcheck-abc123"));
  for (const char* name : {"dlcheck-held12", "dlcheck-longer1", "other-abc123"}) {
    EXPECT_TRUE(std::filesystem::exists(place / name)) << name;
  }
  close(held);
}

}  // namespace
}  // namespace dlcheck
