#include "checks/signals/checkpoint/saves.h"

#include <gtest/gtest.h>

#include "checks/engine/run_builder.h"
#include "tests/signals/signal_of.h"

namespace dlcheck {
namespace {

// One save of two parts in memory, and what was read back of them.
RunBuilder OneSave(const std::vector<std::pair<const char*, double>>& stored) {
  RunBuilder run;
  run.Quantity(Quantity::kSavedDigest, "state", "model/weight", 11, 12);
  run.Quantity(Quantity::kSavedDigest, "state", "model/bias", 21, 22);
  for (const auto& [name, digest] : stored) {
    run.Quantity(Quantity::kStoredDigest, "state", name, digest, digest + 1);
  }
  return run;
}

Saves SavesOf(const RunBuilder& run) {
  Evidence evidence;
  evidence.Add(kPlain, run.Build());
  return SignalOf<Saves>(evidence);
}

TEST(Saves, AreWholeWhereTheFileHoldsTheBitsOfMemory) {
  const Saves saves = SavesOf(OneSave({{"model/weight", 11}, {"model/bias", 21}}));
  ASSERT_EQ(saves.saves.size(), 1u);
  EXPECT_EQ(saves.saves[0].parts, 2);
  EXPECT_TRUE(saves.saves[0].changed.empty());
  EXPECT_TRUE(saves.saves[0].missing.empty());
}

TEST(Saves, NameWhatHasOtherBitsAndWhatIsMissing) {
  const Saves saves = SavesOf(OneSave({{"model/weight", 31}}));
  ASSERT_EQ(saves.saves.size(), 1u);
  EXPECT_EQ(saves.saves[0].changed, std::vector<std::string>{"model/weight"});
  EXPECT_EQ(saves.saves[0].missing, std::vector<std::string>{"model/bias"});
}

TEST(Saves, AreTakenApartByTheirSteps) {
  RunBuilder run = OneSave({{"model/weight", 11}, {"model/bias", 21}});
  run.Resume(5).Quantity(Quantity::kSavedDigest, "state", "model/weight", 41, 42);
  run.Quantity(Quantity::kStoredDigest, "state", "model/weight", 41, 43);
  const Saves saves = SavesOf(run);
  ASSERT_EQ(saves.saves.size(), 2u);
  EXPECT_TRUE(saves.saves[0].changed.empty());
  EXPECT_EQ(saves.saves[1].step, 5);
  EXPECT_EQ(saves.saves[1].changed, std::vector<std::string>{"model/weight"});
}

TEST(Saves, AreUnknownWhereNothingWasReadBack) {
  EXPECT_FALSE(Saves::From(OneSave({}).Build()).ok());
}

}  // namespace
}  // namespace dlcheck
