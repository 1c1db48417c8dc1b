// Examples for a loss that is a sum of two terms.
#pragma once

#include <vector>

#include "checks/catalog/examples/example_runs.h"

namespace dlcheck {

// Of the second term: its shares in the gradient and its values, at as many backward calls.
struct TermExample {
  std::vector<double> shares, values;
  double of_loss = 1e-5;
  double factor = 1e-5;
};

inline Evidence WithTerm(const TermExample& example) {
  RunBuilder trials;
  for (size_t i = 0; i < example.shares.size(); ++i) {
    const double share = example.shares[i];
    trials.Quantity(Quantity::kTermShare, "term", "term 1 of 2, mse_loss", 1 - share,
                    1 - example.of_loss);
    trials.Quantity(Quantity::kTermValue, "term", "term 1 of 2, mse_loss", 1, 1);
    trials.Quantity(Quantity::kTermShare, "term", "term 2 of 2, mean", share, example.of_loss);
    trials.Quantity(Quantity::kTermValue, "term", "term 2 of 2, mean", example.values[i],
                    example.factor);
    AddStep(trials, {.held = {}});
  }
  Evidence evidence;
  evidence.Add(kPlain, TwoLayers().Build());
  evidence.Add(kTrials, trials.Build());
  return evidence;
}

}  // namespace dlcheck
