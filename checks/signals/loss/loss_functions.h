// The loss functions that training called: their inputs, and the use of their results.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "checks/engine/trace.h"

namespace dlcheck {

struct LossFunctions {
  static constexpr std::string_view kName = "loss functions";
  struct Function {
    std::string name;        // "cross_entropy"; "loss" where it is not known
    std::string kind;        // cross_entropy, nll, mse, bce, ...; empty if unknown
    std::string reduction;   // mean, sum or none; empty if unknown
    std::string input_from;  // softmax, log_softmax or sigmoid made its first input; empty if none
    std::string logarithm_of;   // what made what log_softmax was given, if that made its input
    std::string sigmoid_of;     // the same of sigmoid
    std::string targets;        // of a batch with some out of reach, "lowest to highest"
    std::string normalized_by;  // what may have made log-probabilities of it; empty if nothing
    std::string broadcast;      // "64x1 and 64" where the shapes of its inputs did not agree
    std::string several_true;   // "1" where a row of its targets had several of 1
    // Of the first process; valid as long as the run.
    // `terms`: like `shares`, where the loss was one of several terms.
    std::span<const Sample> losses, shares, terms, counted, probabilities, log_probabilities,
        unreachable;
    NamedSite site;  // of its first backward call; line 0 if not known
  };
  std::vector<Function> functions;
  std::set<int64_t> nonfinite_steps;  // at which some loss was not finite
  std::string declared_reduction;     // the program's own word on it

  // Errors: NotFound if no loss was observed.
  static absl::StatusOr<LossFunctions> From(const Run& run);
};

// Number of different steps of samples that are in order.
int64_t StepsOf(std::span<const Sample> samples);

}  // namespace dlcheck
