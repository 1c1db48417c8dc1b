// The whole validation split, and at the end the test split, without gradients.
#pragma once

#include "reference/training/training.h"

namespace dlcheck::reference {

struct Scores {
  double loss = 0;      // mean over the targets, without label smoothing and class weights
  double accuracy = 0;  // fraction of the targets; NaN of numbers
};

// In evaluation mode, with the averaged weights if there are any. Draws no random number and
// changes no state.
Scores Evaluate(Training& training);

// The same of the test split, which no decision of the run depends on, so that nobody who watches
// is told. REQUIRES: the data has one.
Scores EvaluateTestSplit(Training& training);

// Puts averages in the place of the weights, where there are any; called again, puts them back.
void ExchangeAverages(const Training& training);

}  // namespace dlcheck::reference
