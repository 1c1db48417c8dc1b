// What a run trains and evaluates on: two sources of samples, and what the model must know of them.
//
// Letters: C classes, or the vocabulary of a token stream; T tokens of a sample.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "dlcheck/plugin.h"
#include "reference/data/normalization.h"
#include "reference/data/source.h"
#include "reference/data/window_cache.h"

namespace dlcheck::reference {

struct Dataset {
  InputShape sample_shape;  // of a token stream (T)
  int64_t classes;          // C, or how many numbers are the targets of a sample
  std::shared_ptr<const Source> train, val;
  std::shared_ptr<const Source> test;  // null if the file has none
  torch::Tensor mean_image;            // (1, sample shape), of train; undefined for a token stream
  // What is in memory of data that is read in windows; null if all was read whole.
  std::shared_ptr<const WindowCache> windows = nullptr;
  bool has_numbers = false;  // the targets are numbers and no classes
};

// What is larger is read in windows, whatever else is asked for.
inline constexpr int64_t kMostWholeBytes = int64_t{1} << 30;

// Reads a fixture file of labeled samples; `normalization` replaces the statistics in the file.
// Samples of up to `most_bytes_at_once` are read whole. Of larger ones windows are read when their
// rows are taken, and at most so many bytes of them kept; the rows are the same either way, and the
// mean image to rounding. Both pass over the file once here, to check it.
//
// Errors: InputRejected. Source::Take throws it too for a file that became unreadable or other.
Dataset LoadDataset(const std::string& path, const std::optional<Normalization>& normalization,
                    int64_t most_bytes_at_once = kMostWholeBytes);

// How often each class or token is a target in `source`, (C), int64. Cost: takes the targets of
// every row once, a part of the rows at a time.
torch::Tensor CountTargets(const Source& source, int64_t classes);

// The smallest and the largest target in `source`, which has rows. Cost: as CountTargets.
std::pair<double, double> RangeOfTargets(const Source& source);

// A data set that comes with this program: digits.h5 of images, text.h5 of tokens (made with the
// build, not installed), in ../share/dlcheck/fixtures from its folder.
std::string DefaultDataPath(const std::string& name);

}  // namespace dlcheck::reference
