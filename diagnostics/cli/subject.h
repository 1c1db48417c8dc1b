// The command of `dlcheck run` as a subject: one run folder an experiment, and files of its own for
// all but the plain run.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "checks/engine/experiment.h"
#include "checks/engine/trace.h"
#include "checks/observe/launcher/launcher.h"
#include "checks/observe/launcher/private_files.h"
#include "checks/observe/launcher/shared_start.h"
#include "checks/signals/checkpoint/saved_point.h"
#include "diagnostics/cli/commands.h"
#include "diagnostics/cli/config/choice.h"
#include "diagnostics/cli/output_folder.h"
#include "diagnostics/cli/places.h"
#include "diagnostics/cli/preload.h"

namespace dlcheck::cli {

class CommandSubject {
 public:
  // All must outlive it.
  CommandSubject(const Words& command, const Choice& choice, const OutputFolder& folder)
      : command_(command), choice_(choice), folder_(folder) {}
  CommandSubject(const CommandSubject&) = delete;
  CommandSubject& operator=(const CommandSubject&) = delete;
  ~CommandSubject();

  // The plain run comes first. Errors: FailedPrecondition where the program cannot be run so.
  absl::StatusOr<Run> RunUnder(const Experiment& experiment, absl::Duration deadline);

  // The plain run again with another text in a file of the program, which no other process sees.
  // Ends after `steps` optimizer steps; 0: where the program ends. Errors: FailedPrecondition where
  // the system gives a run no files of its own.
  absl::StatusOr<Run> RunChanged(const std::string& file, const std::string& text_file,
                                 int64_t steps, absl::Duration deadline);

  const Ending& plain_ending() const { return plain_ending_; }

 private:
  absl::StatusOr<Run> RunPlain();
  absl::StatusOr<Run> RunInterrupted(absl::Duration deadline);
  absl::StatusOr<Run> RunResumed(absl::Duration deadline);
  absl::StatusOr<Run> RunReplayed(absl::Duration deadline);
  absl::StatusOr<Run> RunRanks(absl::Duration deadline);
  absl::StatusOr<Run> RunOneProcess(absl::Duration deadline);
  // As the plain run, but with files of its own.
  absl::StatusOr<Run> RunAgain(Launch launch);
  absl::StatusOr<Run> RunApart(Launch launch, PrivateFiles& files);
  absl::StatusOr<Launch> Prepare(const Experiment& experiment, absl::Duration deadline) const;
  absl::StatusOr<Launch> PrepareIn(const std::string& folder, const Experiment& experiment,
                                   absl::Duration deadline) const;
  absl::StatusOr<Run> Start(const Launch& launch, Ending& ending) const;
  void NotePlain(const Run& run, absl::Time started);
  // Where this launch may begin with others; null if nowhere.
  SharedStart* SharedStartFor(const Launch& launch);
  bool WentOn(const Run& run) const;
  // The error of a run that would not begin where the plain run began.
  absl::Status BeginsElsewhere() const;

  const Words& command_;
  const Choice& choice_;
  const OutputFolder& folder_;
  const absl::StatusOr<std::string> python_folder_ = PythonFolder();
  const Preload preload_ = PreloadFor(command_);
  Ending plain_ending_;
  bool interrupts_itself_ = false;  // it takes part in `resumed` by its own means
  bool replays_ = false;            // it can look at every operation of a step
  absl::Status in_ranks_;           // whether several processes trained
  std::string ranks_folder_;        // of their run whose first step was kept
  int64_t first_nonfinite_ = -1;    // the step of the first value that is not finite; none
  absl::StatusOr<SavedPoint> saved_ = absl::FailedPreconditionError("the plain run is not there");
  bool shares_start_ = false;  // one Python process trained, and nothing else
  std::unique_ptr<SharedStart> shared_start_;
  std::vector<std::string> made_;                    // by the plain run, and hidden from all others
  std::vector<std::string> changed_;                 // by the plain run, but there before
  std::set<std::string> read_anyway_;                // files that the interrupted run began with
  bool was_interrupted_ = false;                     // where it was to be
  std::unique_ptr<PrivateFiles> interrupted_files_;  // of the interrupted run
};

}  // namespace dlcheck::cli
