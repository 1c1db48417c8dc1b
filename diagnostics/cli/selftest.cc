// `dlcheck selftest`: every check's own examples, on the user's machine.
#include <cstdio>

#include "checks/catalog/catalog.h"
#include "checks/engine/report.h"
#include "diagnostics/cli/commands.h"
#include "diagnostics/cli/config/options.h"

namespace dlcheck::cli {
namespace {

// True if the example gives what it claims.
bool Holds(const Check& check, const Example& example) {
  const Evidence evidence = example.evidence();
  const absl::StatusOr<Verdict> verdict =
      check.judgement.judge(Settings(example.settings), evidence);
  if (!verdict.ok()) return false;
  return verdict->findings.empty() == (example.expect == Expect::kClean);
}

}  // namespace

int SelftestMain(const Words& words) {
  CommandLine line("selftest", "Runs the clean and faulty examples of every check.");
  if (const auto code = line.Parse(words)) return *code;
  int held = 0, failed = 0;
  for (const Check& check : Catalog()) {
    for (const Example& example : check.examples) {
      const bool holds = Holds(check, example);
      ++(holds ? held : failed);
      if (!holds) {
        std::printf("failed: %s: %s\n", std::string(check.id).c_str(),
                    std::string(example.title).c_str());
      }
    }
  }
  std::printf("%d examples of %d checks hold, %d fail\n", held, static_cast<int>(Catalog().size()),
              failed);
  return failed == 0 ? kExitClean : kExitInternal;
}

}  // namespace dlcheck::cli
