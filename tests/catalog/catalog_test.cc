#include "checks/catalog/catalog.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "checks/engine/language.h"

namespace dlcheck {
namespace {

using testing::ElementsAre;

// Ids of all checks whose file is there.
std::set<std::string> IdsOfFiles() {
  const std::filesystem::path folder = std::string(DLCHECK_SOURCE_DIR) + "/checks/catalog";
  std::set<std::string> ids;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const auto relative = std::filesystem::relative(entry.path(), folder);
    const bool is_shared =
        relative.string().starts_with("examples/") || relative.string().starts_with("findings/");
    if (relative.has_parent_path() && !is_shared && relative.extension() == ".cc") {
      ids.insert(relative.parent_path() / relative.stem());
    }
  }
  return ids;
}

TEST(Catalog, HoldsEveryFileOnceAndInOrder) {
  std::vector<std::string> ids;
  for (const Check& check : Catalog()) ids.emplace_back(check.id);
  EXPECT_TRUE(std::is_sorted(ids.begin(), ids.end()));
  EXPECT_EQ(std::set<std::string>(ids.begin(), ids.end()), IdsOfFiles());
}

TEST(Catalog, EveryCheckIsDocumented) {
  for (const Check& check : Catalog()) {
    for (const std::string_view text : {check.promise, check.why, check.method, check.fix}) {
      EXPECT_TRUE(text.ends_with(".")) << check.id << ": " << text;
      EXPECT_GE(text.size(), 20u) << check.id << ": " << text;
      EXPECT_LE(text.size(), 520u) << check.id << ": " << text;
    }
    EXPECT_LE(check.promise.size(), 120u) << check.id;
    EXPECT_LE(check.title.size(), 50u) << check.id;
    EXPECT_GE(check.title.size(), 8u) << check.id;
    EXPECT_FALSE(check.title.ends_with(".")) << check.id;
    EXPECT_FALSE(check.sources.empty()) << check.id;
    EXPECT_FALSE(check.covers.empty()) << check.id;
    EXPECT_FALSE(check.judgement.needs.empty()) << check.id;
  }
}

// Of the checks that show C++ lines: the others do not judge C++ programs, or mend nothing there.
TEST(Catalog, NoFixForCppSpeaksPython) {
  for (const Check& check : Catalog()) {
    if (check.cpp.bad.empty()) continue;
    for (const char* const python : {"torch.", "nn.", "=True", "=False", "None", " self.", "['"}) {
      EXPECT_THAT(FixIn(check, Language::kCpp), testing::Not(testing::HasSubstr(python)))
          << check.id;
    }
  }
}

TEST(Catalog, EveryLimitIsASentence) {
  for (const Check& check : Catalog()) {
    const Limits& limits = check.limits;
    for (const std::string_view text : {limits.needs, limits.silent_when, limits.severity,
                                        limits.blind_spots, limits.sensitivity}) {
      EXPECT_TRUE(text.empty() || text.ends_with(".")) << check.id << ": " << text;
      EXPECT_LE(text.size(), 400u) << check.id << ": " << text;
    }
    EXPECT_FALSE(limits.needs.empty()) << check.id;
  }
}

int64_t LinesOf(std::string_view text) { return std::ranges::count(text, '\n') + 1; }

TEST(Catalog, EveryCheckShowsTheFaultAndItsMendingInAFewLines) {
  for (const Check& check : Catalog()) {
    EXPECT_FALSE(check.python.bad.empty()) << check.id;
    EXPECT_EQ(check.cpp.bad.empty(), check.cpp.good.empty()) << check.id;
    for (const std::string_view text :
         {check.python.bad, check.python.good, check.cpp.bad, check.cpp.good}) {
      EXPECT_LE(LinesOf(text), 8) << check.id << ":\n" << text;
      EXPECT_FALSE(text.starts_with("\n") || text.ends_with("\n")) << check.id << ":\n" << text;
      EXPECT_EQ(text.find('\t'), text.npos) << check.id << ":\n" << text;
    }
    EXPECT_NE(check.python.bad, check.python.good) << check.id;
  }
}

// Lines of docs/faults.md that begin a row, by the fault's name.
std::map<std::string, std::string> FaultList() {
  std::ifstream file(std::string(DLCHECK_SOURCE_DIR) + "/docs/faults.md");
  std::map<std::string, std::string> rows;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("| `")) rows[line.substr(3, line.find('`', 3) - 3)] = line;
  }
  return rows;
}

TEST(Catalog, CoversFaultsOfTheListWhichNamesTheChecks) {
  const std::map<std::string, std::string> rows = FaultList();
  size_t named = 0, covered = 0;
  for (const Check& check : Catalog()) {
    for (const std::string_view fault : check.covers) {
      const auto row = rows.find(std::string(fault));
      ASSERT_NE(row, rows.end()) << check.id << " covers " << fault;
      EXPECT_NE(row->second.find("`" + std::string(check.id) + "`"), std::string::npos)
          << fault << " does not name " << check.id;
      ++covered;
    }
  }
  for (const auto& [fault, row] : rows) named += std::ranges::count(row, '/');
  EXPECT_EQ(named, covered) << "a row names a check that does not cover it";
}

TEST(Catalog, EverySettingHasARangeAUnitAndASource) {
  for (const Check& check : Catalog()) {
    std::set<std::string_view> names;
    for (const Setting& setting : check.settings) {
      EXPECT_TRUE(names.insert(setting.name).second) << check.id << ":" << setting.name;
      EXPECT_LE(setting.low, setting.value) << check.id << ":" << setting.name;
      EXPECT_GE(setting.high, setting.value) << check.id << ":" << setting.name;
      EXPECT_FALSE(setting.unit.empty()) << check.id << ":" << setting.name;
      EXPECT_FALSE(setting.source.empty()) << check.id << ":" << setting.name;
      EXPECT_EQ(setting.source.find(".md"), std::string_view::npos) << check.id << setting.name;
    }
  }
}

bool Reaches(const Check& from, std::string_view id, int depth) {
  if (depth == 0) return false;
  for (const std::string_view next : from.explains) {
    if (next == id || Reaches(*FindCheck(next), id, depth - 1)) return true;
  }
  return false;
}

TEST(Catalog, ExplainsNamesChecksAndHasNoCycle) {
  for (const Check& check : Catalog()) {
    for (const std::string_view id : check.explains) {
      EXPECT_NE(FindCheck(id), nullptr) << check.id << " explains " << id;
    }
  }
  for (const Check& check : Catalog()) {
    EXPECT_FALSE(Reaches(check, check.id, static_cast<int>(Catalog().size()))) << check.id;
  }
}

TEST(Selection, TakesIdsAreasAndGlobs) {
  const auto ids = [](const std::vector<std::string>& select,
                      const std::vector<std::string>& ignore) {
    std::vector<std::string> found;
    const auto checks = SelectChecks(select, ignore);
    for (const Check* check : *checks) found.emplace_back(check->id);
    return found;
  };
  EXPECT_THAT(ids({"optimizer/stale_gradients"}, {}), ElementsAre("optimizer/stale_gradients"));
  EXPECT_THAT(
      ids({"learnability"}, {"*/input_*"}),
      ElementsAre("learnability/cannot_overfit_one_batch", "learnability/no_better_than_constant"));
  EXPECT_THAT(ids({"*/nondeterministic_trainin?"}, {}),
              ElementsAre("reproducibility/nondeterministic_training"));
}

TEST(Selection, OffersTheNearestNameForAnUnknownOne) {
  const auto checks = SelectChecks({"optimizer/stale_gradient"}, {});
  ASSERT_FALSE(checks.ok());
  EXPECT_NE(std::string(checks.status().message()).find("'optimizer/stale_gradients'"),
            std::string::npos);
}

}  // namespace
}  // namespace dlcheck
