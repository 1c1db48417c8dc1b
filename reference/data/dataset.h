// What a run trains and evaluates on: two sources of samples, and what the model must know of them.
//
// Letters: C classes, or the vocabulary of a token stream; T tokens of a sample.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "dlcheck/plugin.h"
#include "reference/data/source.h"

namespace dlcheck::reference {

// x becomes (x - mean) / deviation.
struct Normalisation {
  double mean;
  double deviation;
};

struct Dataset {
  InputShape sample_shape;  // of a token stream (T)
  int64_t classes;          // C
  std::shared_ptr<const Source> train, val;
  torch::Tensor mean_image;  // (1, sample shape), of train; undefined for a token stream
};

// Reads a fixture file of labelled samples whole; `normalisation` replaces the statistics in the
// file. Errors: InputRejected.
Dataset LoadDataset(const std::string& path, const std::optional<Normalisation>& normalisation);

// How often each class or token is a target in `source`, (C), int64. Cost: takes every row once.
torch::Tensor CountTargets(const Source& source, int64_t classes);

// A data set that comes with this program: digits.h5 of images, text.h5 of tokens (made with the
// build, not installed), in ../share/dlcheck/fixtures from its folder.
std::string DefaultDataPath(const std::string& name);

}  // namespace dlcheck::reference
