// Samples of the program's data that `--samples N` keeps: rows of inputs, outputs and targets.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace dlcheck {

// The first rows of one tensor.
struct KeptRows {
  std::string moment, model, role;  // "first step", "Net", "input"
  int64_t step = 0;
  std::string dtype;
  std::vector<int64_t> shape;  // of the whole tensor
  // Of a row that is kept: channels (1 or 3), height and width of a picture, else how many numbers.
  std::vector<int64_t> size;
  bool is_picture = false;
  std::vector<std::vector<double>> rows;
  std::vector<std::string> texts;  // of rows that a tokenizer could read; else empty
};

// The moment of rows that a model gave for a batch that stays the same.
inline constexpr char kPredictions[] = "predictions for a fixed batch";

// Reads a file of JSON lines as the Python probe writes it. A line that does not fit is left out: a
// killed program leaves one that is cut off.
std::vector<KeptRows> ParseSamples(const std::string& lines);

}  // namespace dlcheck
