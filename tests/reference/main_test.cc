// The program as a user meets it: status, one line, and where it goes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "checks/records/request.h"

namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

struct Told {
  int status;  // as wait gives it
  std::string out, error;
};

std::string ReadAll(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

Told Train(const std::string& arguments, const std::string& environment = "") {
  const std::string out = testing::TempDir() + "/out", error = testing::TempDir() + "/error";
  const std::string command = environment + " exec " DLCHECK_BINARY_DIR "/bin/dlcheck-train " +
                              arguments + " >" + out + " 2>" + error;
  const int status = std::system(command.c_str());
  return {status, ReadAll(out), ReadAll(error)};
}

TEST(DlcheckTrain, TrainsOnItsOwnDataWithoutAnyFlag) {
  const Told told = Train("--steps 20 --evaluate-every 10");
  EXPECT_EQ(told.status, 0) << told.error;
  EXPECT_EQ(told.error, "");
  EXPECT_THAT(told.out, StartsWith("step 0  val loss 2.3"));
  EXPECT_THAT(told.out, HasSubstr("\nfinished 20 steps  val loss "));
}

TEST(DlcheckTrain, ExitsWithTwoAndOneLineForBadInput) {
  for (const char* arguments : {"--lr nan", "--data /nowhere.h5", "--model ./none.so", "--stepz 1",
                                "--fault none_such", "--recipe /nowhere.toml"}) {
    const Told told = Train(arguments);
    EXPECT_EQ(WEXITSTATUS(told.status), 2) << arguments;
    EXPECT_THAT(told.error, StartsWith("dlcheck-train: ")) << arguments;
    EXPECT_EQ(told.error.find('\n'), told.error.size() - 1) << told.error;
    EXPECT_EQ(told.out, "") << arguments;
  }
}

TEST(DlcheckTrain, NamesTheRankThatFailedAndEndsTheOthers) {
  const Told told = Train("--nproc 3 --steps 1000000 --fault crash_at_step_37");
  EXPECT_EQ(WEXITSTATUS(told.status), 1);
  EXPECT_THAT(told.error, HasSubstr("dlcheck-train: rank 2: planted failure at step 37\n"));
  EXPECT_THAT(told.error, EndsWith("of 3 failed, exit status 1; the others were ended\n"));
}

TEST(DlcheckTrain, NamesTheRankWhoseFileIsGone) {
  const std::string folder = testing::TempDir() + "main_ranks_" + std::to_string(getpid());
  const std::string flags = "--nproc 2 --steps 4 --checkpoints " + folder;
  EXPECT_EQ(Train(flags + " --stop-after 2").status, 0);
  std::remove((folder + "/step-000000002/rank-1.safetensors").c_str());
  const Told told = Train(flags + " --resume");
  EXPECT_EQ(WEXITSTATUS(told.status), 2);
  EXPECT_THAT(told.error, HasSubstr("dlcheck-train: rank 1: '"));
  EXPECT_THAT(told.error, EndsWith("rank 1 of 2 failed, exit status 2; the others were ended\n"));
}

TEST(DlcheckTrain, RefusesWithRanksWhatItRefusesAlone) {
  const Told told = Train("--nproc 2 --data /nowhere.h5");
  EXPECT_EQ(WEXITSTATUS(told.status), 2);
  EXPECT_THAT(told.error, HasSubstr("'/nowhere.h5': no such file"));
  const Told too_many = Train("--nproc 65");
  EXPECT_EQ(WEXITSTATUS(too_many.status), 2);
  EXPECT_EQ(too_many.error,
            "dlcheck-train: nproc is more than batch-size, and each rank needs a sample\n");
}

TEST(DlcheckTrain, StartsRanksWhateverItInherits) {
  EXPECT_EQ(Train("--nproc 2 --steps 2", "RANK=0").status, 0);
  EXPECT_EQ(Train("--nproc 2 --steps 2", "trap '' CHLD;").status, 0);
  EXPECT_EQ(Train("--nproc 2 --list-faults").out, Train("--list-faults").out);
  const Told other =
      Train("--nproc 3 --steps 2", "RANK=0 WORLD_SIZE=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=1");
  EXPECT_EQ(WEXITSTATUS(other.status), 2);
  EXPECT_EQ(other.error, "dlcheck-train: rank 0: nproc is 3, but 1 were started\n");
}

// The processes that carry `mark` on their command line.
std::vector<pid_t> Marked(const std::string& mark) {
  std::vector<pid_t> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    if (ReadAll(entry.path() / "cmdline").find(mark) != std::string::npos) {
      found.push_back(std::stoi(name));
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

// Starts three ranks and does something to one of these processes: 0 is the one that looks after
// them. What was told, and what is left of them.
Told TrainAndHit(size_t which, int signal) {
  const std::string mark = "--seed=77" + std::to_string(getpid());
  std::future<Told> training = std::async(std::launch::async, [&] {
    return Train("--nproc 3 --steps 100000000 --evaluate-every 100000000 " + mark);
  });
  std::vector<pid_t> processes;
  for (int tries = 0; tries < 600 && processes.size() < 4; ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    processes = Marked(mark);
    std::erase_if(processes, [](pid_t process) {  // the shell
      return ReadAll("/proc/" + std::to_string(process) + "/comm") != "dlcheck-train\n";
    });
  }
  EXPECT_EQ(processes.size(), 4U);
  if (processes.size() == 4) kill(processes[which], signal);
  const Told told = training.get();
  for (int tries = 0; tries < 100 && !Marked(mark).empty(); ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  EXPECT_TRUE(Marked(mark).empty());
  return told;
}

TEST(DlcheckTrain, NamesTheRankThatWasKilledAndLeavesNoProcess) {
  const Told told = TrainAndHit(3, SIGKILL);
  EXPECT_EQ(WEXITSTATUS(told.status), 5);
  EXPECT_THAT(told.error, EndsWith("rank 2 of 3 was ended by Killed; the others were ended\n"));
}

TEST(DlcheckTrain, NamesTheRankThatWasStoppedForLong) {
  const Told told = TrainAndHit(2, SIGSTOP);
  EXPECT_EQ(WEXITSTATUS(told.status), 5);
  EXPECT_THAT(told.error, EndsWith("rank 1 of 3 was stopped by a signal; the others were ended\n"));
}

TEST(DlcheckTrain, PassesOnWhatEndsItToTheRanks) {
  const Told told = TrainAndHit(0, SIGTERM);
  EXPECT_TRUE(WIFSIGNALED(told.status));
  EXPECT_EQ(WTERMSIG(told.status), SIGTERM);
  EXPECT_EQ(told.error, "");
}

TEST(DlcheckTrain, LeavesNoRankWhereItIsKilled) { TrainAndHit(0, SIGKILL); }

TEST(DlcheckTrain, ExitsWithOneForARunThatFailed) {
  const Told told = Train("--fault crash_at_step_37");
  EXPECT_EQ(WEXITSTATUS(told.status), 1);
  EXPECT_EQ(told.error, "dlcheck-train: planted failure at step 37\n");
}

TEST(DlcheckTrain, DiesByTheSignalOfAPlantedAbort) {
  const Told told = Train("--fault abort_at_step_37");
  EXPECT_TRUE(WIFSIGNALED(told.status) || WEXITSTATUS(told.status) == 128 + SIGABRT);
}

TEST(DlcheckTrain, ListsItsFaultsInFourColumns) {
  const Told told = Train("--list-faults");
  EXPECT_EQ(told.status, 0);
  EXPECT_THAT(told.out, HasSubstr("detached_trunk\tgradients/missing\t\tThe features are"));
}

TEST(DlcheckTrain, CarriesOutARequest) {
  dlcheck::Request request;
  request.run_folder = testing::TempDir();
  request.experiment = "one_batch";
  request.steps = 7;
  request.reference_rate = 1e-3;
  const std::string path = testing::TempDir() + "/request";
  std::ofstream(path) << dlcheck::FormatRequest(request);
  const Told told = Train("", "DLCHECK_REQUEST=" + path);
  EXPECT_EQ(told.status, 0) << told.error;
  // The probe ends the process once an experiment has its steps.
  EXPECT_THAT(told.out, HasSubstr("step 0 "));
  EXPECT_THAT(told.out, testing::Not(HasSubstr("step 100 ")));
}

}  // namespace
