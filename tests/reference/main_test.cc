// The program as a user meets it: status, one line, and where it goes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <fstream>
#include <string>

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
