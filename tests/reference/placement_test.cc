// Which rank a process is, by the variables of whoever started it.
#include "reference/distributed/launch/placement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "reference/recipe/rejection.h"

namespace dlcheck::reference {
namespace {

using testing::HasSubstr;

using Variables = std::map<std::string, std::string>;

Environment EnvironmentOf(const Variables& variables) {
  return [&variables](const char* name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
}

std::optional<Placement> PlacedBy(const Variables& variables) {
  return PlacementFrom(EnvironmentOf(variables));
}

TEST(Placement, IsReadFromTheVariablesOfEachStarter) {
  EXPECT_FALSE(PlacedBy({}));
  EXPECT_FALSE(PlacedBy({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "1"}}));
  const Variables meeting = {{"MASTER_ADDR", "one"}, {"MASTER_PORT", "29500"}};
  for (const auto& [rank, world] : {std::pair{"RANK", "WORLD_SIZE"},
                                    {"SLURM_PROCID", "SLURM_NTASKS"},
                                    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                    {"PMI_RANK", "PMI_SIZE"}}) {
    Variables variables = meeting;
    variables[rank] = "2";
    variables[world] = "4";
    const std::optional<Placement> placement = PlacedBy(variables);
    ASSERT_TRUE(placement) << rank;
    EXPECT_EQ(placement->rank, 2);
    EXPECT_EQ(placement->world, 4);
    EXPECT_EQ(placement->address, "one");
    EXPECT_EQ(placement->port, 29500);
    EXPECT_FALSE(placement->is_one_machine);
  }
}

TEST(Placement, NamesTheRankAsItIsWritten) {
  const Variables one = {{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "1"}};
  const Variables many = {{"SLURM_PROCID", "1"}, {"SLURM_NTASKS", "2"}};
  EXPECT_FALSE(RankIn(EnvironmentOf(one)));
  EXPECT_EQ(RankIn(EnvironmentOf(many)), "1");
}

TEST(Placement, RefusesWhatCannotBeByTheNameOfTheVariable) {
  const auto refusal = [](const Variables& variables) -> std::string {
    try {
      PlacedBy(variables);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(refusal({{"RANK", "4"}, {"WORLD_SIZE", "4"}}), HasSubstr("RANK is '4'"));
  EXPECT_THAT(refusal({{"RANK", "x"}, {"WORLD_SIZE", "4"}}), HasSubstr("RANK is 'x'"));
  EXPECT_THAT(refusal({{"RANK", "0"}, {"WORLD_SIZE", "4"}}), HasSubstr("MASTER_ADDR is not set"));
  EXPECT_THAT(
      refusal({{"RANK", "0"}, {"WORLD_SIZE", "4"}, {"MASTER_ADDR", "a"}, {"MASTER_PORT", "99999"}}),
      HasSubstr("MASTER_PORT is '99999'"));
}

}  // namespace
}  // namespace dlcheck::reference
