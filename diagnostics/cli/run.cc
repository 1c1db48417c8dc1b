// `dlcheck run [OPTIONS] -- COMMAND`: runs, watches and judges.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "absl/time/clock.h"
#include "diagnostics/cli/commands.h"
#include "diagnostics/cli/options.h"
#include "diagnostics/cli/output_folder.h"
#include "diagnostics/cli/subject.h"
#include "diagnostics/cli/verdict.h"

namespace dlcheck::cli {
namespace {

// CLI11 does not know of a command after two dashes.
class RunFormatter : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App*, std::string) const override {
    return "Usage: dlcheck run [OPTIONS] -- COMMAND [ARGUMENTS]\n";
  }
};

void AnnounceExperiment(const Experiment& experiment) {
  // One line that the next overwrites; nothing where nobody watches.
  if (isatty(STDERR_FILENO)) {
    std::fprintf(stderr, "\r\033[Kdlcheck  experiment: %s ...\r", Describe(experiment).c_str());
  }
}

int SubjectStatus(const Ending& ending) {
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
  execvp(arguments[0], arguments.data());
  std::perror(arguments[0]);
  std::exit(kExitUsage);
}

int RunAndJudge(const Words& command, const Options& options) {
  const absl::StatusOr<Choice> choice = Resolve(options);
  if (!choice.ok()) return Refuse(choice.status());
  if (choice->checks.empty()) {
    std::fprintf(stderr, "dlcheck: no check is selected\n");
    return kExitNothing;
  }
  const absl::StatusOr<OutputFolder> folder = OutputFolder::Prepare(choice->out);
  if (!folder.ok()) return Refuse(folder.status());
  const absl::Time started = absl::Now();
  CommandSubject subject(command, options, *choice, *folder);
  const auto run_under = [&subject](const Experiment& experiment, absl::Duration deadline) {
    return subject.RunUnder(experiment, deadline);
  };
  const Evidence evidence = Gather(run_under, choice->checks, choice->settings, choice->allowance,
                                   AnnounceExperiment, WasInterrupted);
  if (isatty(STDERR_FILENO)) std::fputs("\r\033[K", stderr);
  if (evidence.runs().empty()) {
    const absl::Status& why = evidence.missing().front().second;
    if (absl::IsInvalidArgument(why)) return Refuse(why);
  }
  const int code =
      Deliver(evidence, *choice, options, *folder,
              {.command = command, .started = started, .interrupted = WasInterrupted()});
  return options.exit_status == "subject" ? SubjectStatus(subject.plain_ending()) : code;
}

}  // namespace

int RunMain(const Words& words) {
  Options options;
  CLI::App app("Runs a training program under watch and judges what was seen.");
  app.formatter(std::make_shared<RunFormatter>());
  AddRunOptions(app, options);
  app.add_flag("--deep", options.deep, "also rerun the program under the experiments checks need");
  app.add_option(
      "--resume-command", options.resume_command,
      "shell command by which the program goes on from what it saved (default: the same)");
  app.add_flag("--save-batch", options.save_batch,
               "keep the batch of the step in which a value stopped being finite (with --deep)");
  app.add_option("--seed", options.seed, "seed for hosts that take one");
  app.add_option("--steps", options.steps, "end the program after so many optimizer steps")
      ->check(CLI::PositiveNumber);
  const auto dashes = std::find(words.begin(), words.end(), "--");
  if (const auto code = Parse(app, {words.begin(), dashes})) return *code;
  if (dashes == words.end() || dashes + 1 == words.end()) {
    return Refuse(absl::InvalidArgumentError(
        "run needs a command after --, as in: dlcheck run -- python train.py"));
  }
  const Words command(dashes + 1, words.end());
  if (std::getenv(kRequestVariable) != nullptr) PassOn(command);
  return RunAndJudge(command, options);
}

}  // namespace dlcheck::cli
