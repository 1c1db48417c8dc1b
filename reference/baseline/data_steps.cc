#include "reference/baseline/data_steps.h"

#include <algorithm>

#include "reference/baseline/standardize.h"
#include "reference/data/data.h"

namespace dlcheck::reference {
namespace {

constexpr int64_t kSamples = 64, kSequences = 8, kContext = 128;

}  // namespace

Capture StepsOfData(const std::string& path, int64_t steps) {
  Capture capture;
  capture.has_tokens = IsTokenData(path);
  const Dataset data = capture.has_tokens ? LoadTokens(path, kContext, kMostWholeBytes)
                                          : LoadDataset(path, std::nullopt);
  capture.has_numbers = data.has_numbers;
  capture.sample_shape = data.sample_shape;
  capture.classes = data.classes;
  Batches::Options options;
  options.batch_size = std::min(capture.has_tokens ? kSequences : kSamples, data.train->rows());
  const Batches batches(data.train, options);
  for (int64_t step = 0; step < steps; ++step) capture.batches.push_back(batches.At(step));
  Standardize(capture);
  return capture;
}

}  // namespace dlcheck::reference
