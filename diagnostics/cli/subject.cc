#include "diagnostics/cli/subject.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <random>
#include <system_error>

#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "checks/engine/recording.h"
#include "checks/engine/status.h"
#include "checks/engine/text.h"
#include "checks/engine/trace_reader.h"
#include "checks/observe/launcher/written_files.h"
#include "checks/records/visible.h"
#include "checks/signals/checkpoint/state_files.h"
#include "checks/signals/gradients/finiteness.h"
#include "checks/signals/run/process_group.h"
#include "diagnostics/cli/last_line.h"
#include "diagnostics/cli/live.h"
#include "diagnostics/cli/one_process.h"
#include "diagnostics/cli/resumption.h"

namespace dlcheck::cli {
namespace {

namespace fs = std::filesystem;
constexpr size_t kMostPathsTold = 32;
constexpr int64_t kStepsWithPredictions = 65;  // steps after which models predict: 2, 4, ..., 64

bool Lists(std::string_view words, std::string_view word) {
  const std::vector<std::string> all = absl::StrSplit(std::string(words), ' ');
  return std::ranges::find(all, word) != all.end();
}

// Those that may not change what other processes wait for.
bool IsForOneProcess(const Experiment& experiment) {
  return experiment == kTrials || experiment == kFixedBatch;
}

// As it is where it does not say how many processes it starts: then the probe gives the reason.
Words InOneProcess(const Words& command) { return WithOneProcess(command).value_or(command); }

// One that no other run has.
std::string NewWord() {
  std::random_device random;
  return absl::StrFormat("%08x%08x", random(), random());
}

// What is lost, and why; the run goes on.
void Say(const char* what, const absl::Status& why) {
  std::fprintf(stderr, "dlcheck: %s: %s\n", what, Visible(std::string(why.message())).c_str());
}

std::string WholePath(const std::string& path) {
  std::error_code error;
  return fs::weakly_canonical(path, error).string();
}

}  // namespace

CommandSubject::~CommandSubject() {
  if (interrupted_files_) interrupted_files_->Clear(0);
}

absl::StatusOr<Run> CommandSubject::RunUnder(const Experiment& experiment,
                                             absl::Duration deadline) {
  if (experiment == kPlain) return RunPlain();
  if (experiment == kInterrupted) return RunInterrupted(deadline);
  if (experiment == kResumed && !interrupts_itself_) return RunResumed(deadline);
  if ((experiment == kSameSeed || experiment == kReplay) && !changed_.empty()) {
    return BeginsElsewhere();
  }
  if (experiment == kReplay) return RunReplayed(deadline);
  if (experiment == kMultiProcess) return RunRanks(deadline);
  if (experiment == kSingleProcess) return RunOneProcess(deadline);
  DLCHECK_ASSIGN_OR_RETURN(Launch launch, Prepare(experiment, deadline));
  if (experiment == kTrials && choice_.samples) {
    launch.request.samples = choice_.samples;
    launch.request.steps = kStepsWithPredictions;
  }
  if (in_ranks_.ok() && IsForOneProcess(experiment)) launch.command = InOneProcess(command_);
  launch.shared_start = SharedStartFor(launch);
  return RunAgain(std::move(launch));
}

SharedStart* CommandSubject::SharedStartFor(const Launch& launch) {
  if (shares_start_ && !shared_start_) shared_start_ = SharedStart::Beside(launch, made_);
  return shared_start_.get();
}

absl::Status CommandSubject::BeginsElsewhere() const {
  return absl::FailedPreconditionError(
      StrCat("the plain run changed ", Listed(changed_, 2),
             ", which was there before, so another run may begin elsewhere"));
}

absl::StatusOr<Run> CommandSubject::RunAgain(Launch launch) {
  PrivateFiles files = PrivateFiles::Plan();
  files.Hide(made_);
  absl::StatusOr<Run> run = RunApart(std::move(launch), files);
  const std::vector<std::string> written = files.Clear(kMostPathsTold);
  if (run.ok()) AddRedirected(written, run->trace);
  return run;
}

absl::StatusOr<Run> CommandSubject::RunChanged(const std::string& file,
                                               const std::string& text_file, int64_t steps,
                                               absl::Duration deadline) {
  if (!changed_.empty()) return BeginsElsewhere();
  DLCHECK_ASSIGN_OR_RETURN(const std::string folder, folder_.AddSuggested(steps));
  DLCHECK_ASSIGN_OR_RETURN(Launch launch, PrepareIn(folder, kPlain, deadline));
  if (steps > 0) launch.request.steps = steps;
  launch.needs_own_files = true;
  PrivateFiles files = PrivateFiles::Plan();
  files.Hide(made_);
  files.Replace(file, text_file);
  absl::StatusOr<Run> run = RunApart(std::move(launch), files);
  files.Clear(0);
  return run;
}

absl::StatusOr<Run> CommandSubject::RunReplayed(absl::Duration deadline) {
  if (!replays_) {
    return absl::FailedPreconditionError("the program's probe sees no single operations");
  }
  if (first_nonfinite_ < 0) {
    return absl::FailedPreconditionError("the plain run saw no value that is not finite");
  }
  DLCHECK_ASSIGN_OR_RETURN(Launch launch, Prepare(kReplay, deadline));
  launch.request.end_step = first_nonfinite_ + 1;
  launch.request.keep_batch = choice_.save_batch;
  return RunAgain(std::move(launch));
}

absl::StatusOr<Run> CommandSubject::RunRanks(absl::Duration deadline) {
  DLCHECK_RETURN_IF_ERROR(in_ranks_);
  DLCHECK_RETURN_IF_ERROR(WithOneProcess(command_).status());
  DLCHECK_ASSIGN_OR_RETURN(Launch launch, Prepare(kMultiProcess, deadline));
  ranks_folder_ = launch.request.run_folder;
  return RunAgain(std::move(launch));
}

absl::StatusOr<Run> CommandSubject::RunOneProcess(absl::Duration deadline) {
  DLCHECK_RETURN_IF_ERROR(in_ranks_);
  if (ranks_folder_.empty()) {
    return absl::FailedPreconditionError("there is no run in several processes to compare with");
  }
  DLCHECK_ASSIGN_OR_RETURN(Launch launch, Prepare(kSingleProcess, deadline));
  DLCHECK_ASSIGN_OR_RETURN(launch.command, WithOneProcess(command_));
  launch.request.other_folder = ranks_folder_;
  return RunAgain(std::move(launch));
}

absl::StatusOr<Run> CommandSubject::RunPlain() {
  DLCHECK_ASSIGN_OR_RETURN(Launch launch, Prepare(kPlain, absl::InfiniteDuration()));
  launch.own_group = false;
  launch.request.steps = choice_.steps;
  launch.request.samples = choice_.samples;
  launch.request.capture = choice_.capture;
  launch.request.whole_first = choice_.whole_first;
  launch.request.whole_last = choice_.whole_last;
  if (choice_.timeout) launch.deadline = *choice_.timeout;
  if (!python_folder_.ok()) Say("Python programs are not watched", python_folder_.status());
  if (!preload_.torch.empty() && preload_.gate.empty()) {
    const char* const program = command_.front().c_str();
    std::fprintf(stderr, "dlcheck  there is no probe yet for the LibTorch of %s", program);
    std::fprintf(stderr, ": `dlcheck probe %s` builds it in half a minute\n", program);
  }
  if (choice_.live) launch.look = LiveJudge(choice_, launch.request.run_folder);
  const absl::Time started = absl::Now();
  absl::StatusOr<Run> run = Start(launch, plain_ending_);
  if (run.ok() && choice_.allowance.experiments) NotePlain(*run, started);
  return run;
}

// An experiment is to begin where the plain run began, not where that ended.
void CommandSubject::NotePlain(const Run& run, absl::Time started) {
  interrupts_itself_ = !Lists(run.trace.ProcessAttribute("capabilities"), "interrupted");
  replays_ = Lists(run.trace.ProcessAttribute("capabilities"), "replay");
  const absl::StatusOr<Finiteness> finiteness = Finiteness::From(run);
  if (finiteness.ok()) first_nonfinite_ = finiteness->first.step;
  in_ranks_ = ProcessGroup::From(run).status();
  shares_start_ = !in_ranks_.ok() && !run.trace.ProcessAttribute("python").empty() &&
                  preload_.gate.empty() && geteuid() == 0;
  saved_ = SavedPoint::From(run);
  std::error_code error;
  std::vector<std::string> folders{fs::current_path(error).string()};
  if (saved_.ok()) {
    for (const std::string& file : saved_->files) {
      const std::string parent = fs::path(WholePath(file)).parent_path().string();
      if (!(parent + "/").starts_with(folders.front() + "/")) folders.push_back(parent);
    }
  }
  made_ = MadeSince(folders, started, folder_.path());
  changed_ = ChangedSince(folders, started, folder_.path());
}

absl::StatusOr<Run> CommandSubject::RunInterrupted(absl::Duration deadline) {
  if (interrupts_itself_) {
    return absl::FailedPreconditionError("a program that takes part interrupts itself");
  }
  if (!saved_.ok()) return saved_.status();
  DLCHECK_ASSIGN_OR_RETURN(Launch launch, Prepare(kInterrupted, deadline));
  launch.request.saved_step = saved_->step;
  launch.request.end_step = std::min(saved_->end, saved_->step + kInterrupted.steps);
  launch.shared_start = SharedStartFor(launch);
  interrupted_files_ = std::make_unique<PrivateFiles>(PrivateFiles::Plan());
  interrupted_files_->Hide(made_);
  absl::StatusOr<Run> run = RunApart(std::move(launch), *interrupted_files_);
  if (!run.ok()) return run;
  const absl::StatusOr<StateFiles> files = StateFiles::From(*run);
  if (!files.ok() || files->saves.empty() || files->saves.back().step != saved_->step) {
    return absl::FailedPreconditionError(
        "the program did not save after as many steps as in the plain run");
  }
  read_anyway_ = ReadFirst(run->trace);
  was_interrupted_ = true;
  return run;
}

absl::StatusOr<Run> CommandSubject::RunResumed(absl::Duration deadline) {
  if (!saved_.ok()) return saved_.status();
  if (!interrupted_files_ || !was_interrupted_) {
    return absl::FailedPreconditionError("there is no interrupted run to go on from");
  }
  DLCHECK_ASSIGN_OR_RETURN(Launch launch, Prepare(kResumed, deadline));
  if (!choice_.resume_command.empty()) {
    launch.command = {"/bin/sh", "-c", choice_.resume_command};
  }
  launch.request.end_step = std::min(saved_->end - saved_->step, kInterrupted.steps);
  interrupted_files_->Hide({});  // what now has these names, the interrupted run made
  absl::StatusOr<Run> run = RunApart(std::move(launch), *interrupted_files_);
  const std::vector<std::string> written = interrupted_files_->Clear(kMostPathsTold);
  interrupted_files_.reset();
  if (!run.ok()) return run;
  AddRedirected(written, run->trace);
  if (WentOn(*run)) return run;
  return absl::FailedPreconditionError(
      "started again, the program puts no whole state into a model that it then trains (where it "
      "takes another command to go on, give --resume-command)");
}

// True if before its first step it read a file that the interrupted run did not begin with, and the
// model that trains then was given a whole state: not a teacher, nor the body of another task.
bool CommandSubject::WentOn(const Run& run) const {
  const std::set<std::string> read = ReadFirst(run.trace);
  return !std::ranges::includes(read_anyway_, read) && TrainsLoaded(run.trace);
}

absl::StatusOr<Run> CommandSubject::RunApart(Launch launch, PrivateFiles& files) {
  launch.files = &files;
  Ending ending;
  absl::StatusOr<Run> run = Start(launch, ending);
  if (run.ok()) AddLastLine(StrCat(launch.request.run_folder, "/output"), *run);
  return run;
}

absl::StatusOr<Launch> CommandSubject::Prepare(const Experiment& experiment,
                                               absl::Duration deadline) const {
  DLCHECK_ASSIGN_OR_RETURN(const std::string folder, folder_.AddRun(FolderName(experiment)));
  return PrepareIn(folder, experiment, deadline);
}

absl::StatusOr<Launch> CommandSubject::PrepareIn(const std::string& folder,
                                                 const Experiment& experiment,
                                                 absl::Duration deadline) const {
  Launch launch{.command = command_,
                .request = ToRequest(experiment),
                .python_folder = python_folder_.value_or(""),
                .gate = preload_.gate,
                .workers = preload_.workers,
                .own_group = true,
                .keeps_network = choice_.deep_network,
                .deadline = deadline};
  // Unlike Python's, the preloaded probe does not redirect what the program writes.
  launch.needs_own_files = experiment != kPlain && !preload_.gate.empty();
  launch.request.run_folder = folder;
  launch.request.seed = choice_.seed;
  launch.request.run = NewWord();
  return launch;
}

absl::StatusOr<Run> CommandSubject::Start(const Launch& launch, Ending& ending) const {
  DLCHECK_ASSIGN_OR_RETURN(const Ended ended, RunCommand(launch));
  ending = ended.ending;
  if (!ended.written.ok()) {
    Say("how the run ended is not kept", ended.written);
  }
  absl::StatusOr<RecordedRun> recorded = ReadRecordedRun(launch.request.run_folder, &ending);
  if (!recorded.ok()) return recorded.status();
  SetDeclared(choice_.declared, recorded->run.trace);
  return std::move(recorded->run);
}

}  // namespace dlcheck::cli
