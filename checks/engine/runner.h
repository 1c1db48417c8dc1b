// Gathers evidence and judges it. What the selected checks need is read off their signatures; each
// experiment runs once and serves every check that wants it.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "checks/engine/allowance.h"
#include "checks/engine/report.h"

namespace dlcheck {

// Runs a program under one experiment, ending it at the deadline. Errors are reasons why the
// experiment could not be carried out.
using Subject = std::function<absl::StatusOr<Run>(const Experiment&, absl::Duration deadline)>;

// Changed settings: by check, then by name.
using ChangedSettings =
    std::map<std::string, std::map<std::string, double, std::less<>>, std::less<>>;

// Told before an experiment other than the plain one starts.
using OnExperiment = std::function<void(const Experiment&)>;

// Asked before each experiment; true ends the gathering there.
using Interrupted = std::function<bool()>;

// The plain run, then, if experiments are allowed and the plain run ended well, every experiment
// that a check needs, the one that most checks wait for first; an optional one only while its check
// does not pass without it.
Evidence Gather(const Subject& subject, std::span<const Check* const> checks,
                const ChangedSettings& settings, const Allowance& allowance,
                const OnExperiment& on_experiment, const Interrupted& interrupted);

// The experiments that Gather may run for these checks beside the plain run, in their order.
std::vector<Experiment> PlannedExperiments(std::span<const Check* const> checks);

Report JudgeAll(const Evidence& evidence, std::span<const Check* const> checks,
                const ChangedSettings& settings);

}  // namespace dlcheck
