#include "diagnostics/cli/announcement.h"

#include <vector>

#include "checks/engine/runner.h"
#include "checks/engine/text.h"
#include "checks/observe/launcher/network.h"
#include "diagnostics/cli/reach.h"
#include "diagnostics/cli/try_change.h"

namespace dlcheck::cli {
namespace {

constexpr size_t kChecksShown = 4;

std::string FilesOf(bool are_private) {
  return are_private ? "Files that it writes are private copies."
                     : "Files that Python opens are private copies; others are the real ones.";
}

std::string NetworkOf(bool keeps_network) {
  if (keeps_network) return "It reaches the network (--deep-network).";
  return CanCutNetwork() ? "It reaches no network but loopback."
                         : "It reaches the network, which cannot be cut off here.";
}

std::string Reach(bool keeps_network) {
  return StrCat(FilesOf(CanHavePrivateFiles()), " ", NetworkOf(keeps_network),
                " Devices, /dev/shm and /run are the real ones.");
}

std::vector<std::string> ChecksThatNeed(const Experiment& experiment,
                                        std::span<const Check* const> checks) {
  std::vector<std::string> ids;
  for (const Check* check : checks) {
    for (const Need& need : check->judgement.needs) {
      if (need.experiment == experiment) ids.emplace_back(check->id);
    }
  }
  return ids;
}

}  // namespace

std::string AnnouncementOf(std::span<const Check* const> checks, bool keeps_network) {
  const size_t count = PlannedExperiments(checks).size() + kMostTrials;
  return StrCat("dlcheck  --deep starts the program up to ", count, " more times. ",
                Reach(keeps_network));
}

std::string DryRun(std::span<const Check* const> checks, bool deep, bool keeps_network) {
  std::string text = "The program is started once, as without dlcheck.\n";
  if (!deep) return text;
  const std::vector<Experiment> experiments = PlannedExperiments(checks);
  StrAppend(&text,
            "Then it is started again, once for each experiment that a check still needs:\n");
  for (size_t i = 0; i < experiments.size(); ++i) {
    const std::vector<std::string> ids = ChecksThatNeed(experiments[i], checks);
    StrAppend(&text, i < 9 ? " " : "", i + 1, ". ", Describe(experiments[i]),
              ids.empty() ? ", for the next one" : StrCat(": ", Listed(ids, kChecksShown)), "\n");
  }
  StrAppend(&text, "Last, it is started up to ", kMostTrials,
            " times with the change of `dlcheck suggest`, if a finding has one.\n");
  return StrCat(text, Reach(keeps_network), "\n");
}

}  // namespace dlcheck::cli
