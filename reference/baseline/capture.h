// The batches that a program's model was given, as `dlcheck run --capture` wrote them: after all
// transforms of the data, in their order, one for each optimizer step.
//
// The file is a line `dlcheck capture 1`, and for each batch a line of JSON and the raw elements of
// x and y, little-endian. Letters: B batch, T tokens of a sample, C classes.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "dlcheck/plugin.h"
#include "reference/data/source.h"

namespace dlcheck::reference {

// The program's optimizer, as its first group had it.
struct CapturedOptimizer {
  std::string name;           // of its class
  std::vector<double> rates;  // by step
  double momentum = 0, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, alpha = 0.99, weight_decay = 0;
  bool nesterov = false, centered = false, amsgrad = false;
};

struct Capture {
  std::vector<Batch> batches;  // by step; of a step with several, all their samples
  // By step: the program's own cross-entropy, without its options; of numbers its squared error, in
  // units of their variance. Empty where there is no program.
  std::vector<double> losses;
  InputShape sample_shape;
  int64_t classes = 0;             // C; of numbers how many a sample has
  bool has_tokens = false;         // x is (B, T), int64, and y has a target for each
  bool has_numbers = false;        // y is (B, C), float, and no class
  bool has_class_weights = false;  // the program minimizes a loss that weighs its classes
  bool has_further_terms = false;  // the program minimizes more than this loss
  bool has_dropout = false;        // the program's losses are those of a model with dropout
  CapturedOptimizer optimizer;
  double milliseconds = std::numeric_limits<double>::quiet_NaN();  // of a step, if it is known
  std::string ended;  // why no more was captured; empty: the program, or the number asked for
};

// Whether the file begins as one.
bool IsCapture(const std::string& path);

// Numbers among the inputs are brought to a mean of 0 and a deviation of 1, by feature where
// samples are rows, and so are numbers that are targets: baselines are not to fail for want of
// that.
//
// Errors: InputRejected for a file that is none or is cut off before its first batch, for a task
// that
//         has no reference, and for batches of several kinds.
// Cost: the whole file in memory, twice.
Capture ReadCapture(const std::string& path);

}  // namespace dlcheck::reference
