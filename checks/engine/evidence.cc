#include "checks/engine/evidence.h"

#include "checks/engine/text.h"

namespace dlcheck {

Evidence::Evidence() = default;
Evidence::Evidence(const Evidence& other) = default;
Evidence::Evidence(Evidence&& other) noexcept = default;
Evidence& Evidence::operator=(Evidence&& other) noexcept = default;
Evidence::~Evidence() = default;

void Evidence::Add(const Experiment& experiment, Run run) {
  signals_.clear();
  const std::string refused(run.trace.ProcessAttribute("refused"));
  if (!refused.empty()) {
    AddMissing(experiment, absl::FailedPreconditionError(refused));
    return;
  }
  runs_.emplace_back(experiment, std::move(run));
}

void Evidence::AddMissing(const Experiment& experiment, absl::Status why) {
  signals_.clear();
  missing_.emplace_back(experiment, std::move(why));
}

bool Evidence::Knows(const Experiment& experiment) const {
  for (const auto& [known, why] : missing_) {
    if (known == experiment) return true;
  }
  return RunOf(experiment) != nullptr;
}

const Run* Evidence::RunOf(const Experiment& experiment) const {
  for (const auto& [known, run] : runs_) {
    if (known == experiment) return &run;
  }
  return nullptr;
}

absl::Status Evidence::WhyMissing(const Experiment& experiment) const {
  for (const auto& [known, why] : missing_) {
    if (known == experiment) return why;
  }
  return absl::FailedPreconditionError(StrCat("needs --deep (", Describe(experiment), ")"));
}

std::shared_ptr<const void>& Evidence::Kept(const Experiment& experiment,
                                            std::type_index type) const {
  return signals_[{FolderName(experiment), type}];
}

}  // namespace dlcheck
