// `dlcheck run [OPTIONS] -- COMMAND`: runs, watches and judges.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>

#include "absl/time/clock.h"
#include "checks/engine/clock.h"
#include "checks/observe/launcher/abandoned_folders.h"
#include "checks/observe/launcher/signal_guard.h"
#include "diagnostics/cli/announcement.h"
#include "diagnostics/cli/commands.h"
#include "diagnostics/cli/config/choice.h"
#include "diagnostics/cli/output_folder.h"
#include "diagnostics/cli/subject.h"
#include "diagnostics/cli/try_change.h"
#include "diagnostics/cli/verdict.h"

namespace dlcheck::cli {
namespace {

// Says once what experiments may do, and on a terminal which one is under way.
class Announcer {
 public:
  // Both must outlive it; `spent` grows as experiments run.
  Announcer(const Choice& choice, const absl::Duration& spent)
      : choice_(choice), spent_(spent), planned_(PlannedExperiments(choice.checks).size()) {}

  void operator()(const Experiment& experiment) {
    Show(StrCat("experiment ", ++number_, " of at most ", planned_, ": ", Describe(experiment)));
  }

  void OfAChange() { Show("the program with the suggested change"); }

  void End() const {
    if (has_begun_ && isatty(STDERR_FILENO)) std::fputs("\r\033[K", stderr);
  }

 private:
  // One line that the next overwrites; nothing where nobody watches.
  void Show(const std::string& what) {
    if (!has_begun_) {
      const std::string line = AnnouncementOf(choice_.checks, choice_.deep_network);
      std::fprintf(stderr, "%s\n", line.c_str());
    }
    has_begun_ = true;
    if (!isatty(STDERR_FILENO)) return;
    const int64_t left = absl::ToInt64Seconds(choice_.allowance.time - spent_);
    std::fprintf(stderr, "\r\033[Kdlcheck  %s, %ld s left ...\r", what.c_str(),
                 static_cast<long>(left));
  }

  const Choice& choice_;
  const absl::Duration& spent_;
  bool has_begun_ = false;
  const size_t planned_;  // experiments
  size_t number_ = 0;     // of the one under way
};

int SubjectStatus(const Ending& ending) {
  if (ending.how == Ending::How::kDeadline) return kExitDeadline;
  return ending.how == Ending::How::kKilled ? 128 + ending.status : ending.status;
}

// Watched already from outside: the outer one gets the records, this one only passes the command
// on.
[[noreturn]] void PassOn(const Words& command) {
  Words words = command;
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::fprintf(stderr, "dlcheck  already watched by an outer dlcheck run; passing on\n");
  RestoreSignals();
  execvp(arguments[0], arguments.data());
  std::perror(arguments[0]);
  std::exit(kExitUsage);
}

// Runs, judges and tells; the exit code.
int RunInto(const OutputFolder& folder, const Choice& choice, const Words& command) {
  Occasion occasion{.command = command, .started = absl::Now(), .began = MonotonicNow()};
  CommandSubject subject(command, choice, folder);
  absl::Duration spent;  // on experiments
  const auto run_under = [&](const Experiment& experiment, absl::Duration deadline) {
    const absl::Duration start = MonotonicNow();
    absl::StatusOr<Run> run = subject.RunUnder(experiment, deadline);
    if (experiment != kPlain) spent += MonotonicNow() - start;
    return run;
  };
  Announcer announcer(choice, spent);
  const Evidence evidence = Gather(run_under, choice.checks, choice.settings, choice.allowance,
                                   std::ref(announcer), WasInterrupted);
  int code = kExitUsage;
  if (evidence.runs().empty()) {
    announcer.End();
    code = Refuse(evidence.missing().front().second);
  } else {
    const Report report = JudgeAs(choice, evidence);
    if (choice.allowance.experiments && !WasInterrupted()) {
      occasion.tried = TryChange(subject, report, evidence, choice, folder,
                                 choice.allowance.time - spent, [&] { announcer.OfAChange(); });
    }
    announcer.End();
    occasion.interrupted = WasInterrupted();
    code = Deliver(report, evidence, choice, &folder, occasion);
  }
  const Ending& ending = subject.plain_ending();
  const bool has_run = ending.how != Ending::How::kTruncated;
  return has_run && choice.exits_as_program ? SubjectStatus(ending) : code;
}

int RunAndJudge(const Words& command, const Options& options) {
  absl::StatusOr<Choice> choice = Resolve(options);
  if (!choice.ok()) return Refuse(choice.status());
  if (choice->checks.empty()) {
    std::fprintf(stderr, "dlcheck: no check is selected\n");
    return kExitNothing;
  }
  if (choice->dry_run) {
    std::fputs(DryRun(choice->checks, choice->allowance.experiments, choice->deep_network).c_str(),
               stdout);
    return kExitClean;
  }
  RemoveAbandonedFolders();
  const absl::StatusOr<OutputFolder> folder =
      OutputFolder::Prepare(choice->output_dir, choice->output_dir_is_default);
  if (!folder.ok()) return Refuse(folder.status());
  choice->output_dir = folder->shown();
  return RunInto(*folder, *choice, command);
}

}  // namespace

int RunMain(const Words& words) {
  Options options;
  CommandLine line("run [OPTIONS] -- COMMAND [ARGUMENTS]",
                   "Runs a training program under watch and judges what was seen.");
  AddRunOptions(line, options);
  line.Flag("--deep", &options.deep,
            "also run the program again under the experiments that checks need");
  line.Value("--resume-command", "COMMAND", &options.resume_command,
             "shell command that resumes the program (default: the same command)");
  line.Flag("--deep-network", &options.deep_network,
            "let experiments use the network (default: loopback, if possible)");
  line.Flag("--dry-run", &options.dry_run,
            "list how often the program would start, and why; start nothing");
  line.Flag("--save-batch", &options.save_batch,
            "save the batch of the first step with a non-finite value");
  line.Value("--capture", "N", &options.capture,
             "keep the batches of the first N steps, for dlcheck reference", {.positive = true});
  line.Value("--samples", "N", &options.samples,
             "show the first N samples of some batches in report.html", {.positive = true});
  line.Value("--seed", "N", &options.seed, "seed for programs that take one");
  line.Value("--record-steps", "FIRST:LAST", &options.record_steps,
             "record these steps in full, beside those that are anyway");
  line.Value("--steps", "N", &options.steps, "end the program after this many optimizer steps",
             {.positive = true});
  const auto dashes = std::find(words.begin(), words.end(), "--");
  if (const auto code = line.Parse({words.begin(), dashes})) return *code;
  if (dashes == words.end() || dashes + 1 == words.end()) {
    return Refuse(absl::InvalidArgumentError(
        "run needs a command after --, as in: dlcheck run -- python train.py"));
  }
  const Words command(dashes + 1, words.end());
  if (std::getenv(kRequestVariable) != nullptr) PassOn(command);
  return RunAndJudge(command, options);
}

}  // namespace dlcheck::cli
