// A stream of tokens as samples of a fixed length, each with the token that follows every position
// as its target.
//
// Letters: T tokens of a sample, B batch.
#pragma once

#include <cstdint>
#include <string>

#include "reference/data/dataset.h"

namespace dlcheck::reference {

// True for a file of tokens, whatever is wrong with it; LoadDataset reads the others.
bool IsTokenData(const std::string& path);

// Row i of a split holds its tokens i T to i T + T, and its targets are the tokens one later. What
// is left at the end, less than a row, is not used. A split of up to `most_bytes_at_once` is read
// whole; of a larger one, windows of rows are read when a row of them is taken, and at most so many
// bytes of them kept, so that a file may be larger than memory. The rows are the same either way.
//
// Errors: InputRejected: as the file format says, and a split shorter than a row; UsageError for a
// context below 1. Source::Take throws InputRejected if the file became unreadable.
Dataset LoadTokens(const std::string& path, int64_t context, int64_t most_bytes_at_once);

}  // namespace dlcheck::reference
