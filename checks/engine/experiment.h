// An experiment: one way to run a program, as a value, so that it can stand in a check's signature.
// The probe or the host carries it out. Its cost is the number of its steps.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "checks/records/request.h"

namespace dlcheck {

struct Experiment {
  enum class Name : uint8_t {
    kPlain,        // as the user runs it, never cut short
    kSameSeed,     // the plain run again, with the same seed
    kOneBatch,     // the first batch at every step, dropout off, reference optimizer
    kReference,    // its own data in its own order, reference optimizer
    kMeanInputs,   // as kReference, with every input replaced by the mean input
    kResumed,      // from a checkpoint that another process wrote after `at_step` steps
    kTrials,       // exact tests of the model between two of its steps
    kFixedBatch,   // one batch under fixed weights: rows permuted, targets changed, split otherwise
    kInterrupted,  // ends some steps after it saved its state, and leaves its files behind
    kShuffledLabels,  // as kReference, with labels permuted within each batch
    kLimitedData,     // every pass over a loader is over its first few batches
    kMultiProcess,    // in several processes, as the user runs it; its first step is kept
    kSingleProcess,   // that step, in one process that is given all their batches
    kZeroLr,          // every optimizer steps at a learning rate of 0, dropout off
    kReplay,  // up to a step in which every operation is looked at; a run may have failed there
  };
  Name name;
  int repetition = 0;
  int64_t steps = 0;  // optimizer steps; 0: never cut short
  double reference_rate =
      0;                // learning rate of the reference optimizer (Adam); 0: the program's own
  int64_t at_step = 0;  // where a resumed run was interrupted
  bool operator==(const Experiment&) const = default;
};

inline constexpr Experiment kPlain{.name = Experiment::Name::kPlain};
inline constexpr Experiment kSameSeed{
    .name = Experiment::Name::kSameSeed, .repetition = 1, .steps = 64};

// The ladder of learnability/cannot_overfit_one_batch: a net that is healthy fits 32 samples at one
// of these. Source: measured over 20 seeds a rung; SGD 1e-3 fits none in 1,000 steps, hence a
// reference optimizer.
inline constexpr Experiment kOneBatch{
    .name = Experiment::Name::kOneBatch, .steps = 300, .reference_rate = 1e-3};
inline constexpr Experiment kOneBatchFaster{
    .name = Experiment::Name::kOneBatch, .repetition = 1, .steps = 300, .reference_rate = 1e-2};
inline constexpr Experiment kOneBatchSlower{
    .name = Experiment::Name::kOneBatch, .repetition = 2, .steps = 300, .reference_rate = 3e-4};
inline constexpr Experiment kOneBatchLonger{
    .name = Experiment::Name::kOneBatch, .repetition = 3, .steps = 900, .reference_rate = 1e-3};

inline constexpr Experiment kReference{
    .name = Experiment::Name::kReference, .steps = 200, .reference_rate = 1e-3};
inline constexpr Experiment kMeanInputs{
    .name = Experiment::Name::kMeanInputs, .steps = 200, .reference_rate = 1e-3};
inline constexpr Experiment kReferenceLonger{
    .name = Experiment::Name::kReference, .repetition = 1, .steps = 500, .reference_rate = 1e-3};
inline constexpr Experiment kMeanInputsLonger{
    .name = Experiment::Name::kMeanInputs, .repetition = 1, .steps = 500, .reference_rate = 1e-3};

// A step at which probes take digests, so that the plain run has something to compare with.
inline constexpr Experiment kResumed{
    .name = Experiment::Name::kResumed, .steps = 32, .at_step = 32};
// What a program that knows nothing of this is resumed from: it ends at most so many steps after it
// saved its model. A host that interrupts itself is asked for kResumed alone.
inline constexpr Experiment kInterrupted{.name = Experiment::Name::kInterrupted, .steps = 32};
inline constexpr Experiment kShuffledLabels{
    .name = Experiment::Name::kShuffledLabels, .steps = 200, .reference_rate = 1e-3};
inline constexpr Experiment kFixedBatch{.name = Experiment::Name::kFixedBatch, .steps = 96};
inline constexpr Experiment kLimitedData{.name = Experiment::Name::kLimitedData, .steps = 16};
inline constexpr Experiment kMultiProcess{.name = Experiment::Name::kMultiProcess, .steps = 1};
inline constexpr Experiment kSingleProcess{.name = Experiment::Name::kSingleProcess, .steps = 1};
inline constexpr Experiment kZeroLr{.name = Experiment::Name::kZeroLr, .steps = 96};
inline constexpr Experiment kTrials{.name = Experiment::Name::kTrials, .steps = 8};
// The supervisor says where it ends.
inline constexpr Experiment kReplay{.name = Experiment::Name::kReplay};

// "plain", "same_seed", ...: the word in requests, manifests and reports.
std::string_view ExperimentName(Experiment::Name name);
std::optional<Experiment::Name> ExperimentNamed(std::string_view name);

// The experiment that must have run before this one, which goes on from what it left; null if
// there is none.
const Experiment* RunBefore(const Experiment& experiment);

// One phrase for people: "one_batch, 300 steps, Adam with learning rate 0.001".
std::string Describe(const Experiment& experiment);

// Short and usable as a folder's name: "one_batch-1".
std::string FolderName(const Experiment& experiment);

Request ToRequest(const Experiment& experiment);
std::optional<Experiment> FromRequest(const Request& request);

}  // namespace dlcheck
