// Labeled samples that stay in their file until they are taken, window by window.
//
// Letters: N rows of the source.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fixtures/format/sample_file.h"
#include "reference/data/normalization.h"
#include "reference/data/source.h"
#include "reference/data/window_cache.h"

namespace dlcheck::reference {

// Room for the targets of so many rows, not yet filled: (rows), int64, or (rows, K), float32.
torch::Tensor EmptyTargets(const Fixture& fixture, int64_t rows);

class SampleSource : public Source {
 public:
  // The named rows of the file, ascending. Sources of one file share its cache, and a window is
  // consecutive rows of the file, whatever split they are of.
  SampleSource(std::shared_ptr<const SampleFile> file, std::string path, std::vector<uint32_t> rows,
               const Normalization& normalization, std::shared_ptr<WindowCache> cache);

  int64_t rows() const override { return static_cast<int64_t>(rows_.size()); }

  // Throws InputRejected if the file became unreadable or other than it was. Cost: every window
  // that holds a row is read once, or not at all if it is still in the cache.
  Batch Take(const std::vector<int64_t>& rows) const override;

  // Cost: reads nothing.
  torch::Tensor TakeTargets(const std::vector<int64_t>& rows) const override;

  std::vector<int64_t> WindowEnds() const override;

 private:
  torch::Tensor Window(int64_t number) const;

  std::shared_ptr<const SampleFile> file_;
  std::string path_;
  std::vector<uint32_t> rows_;
  Normalization normalization_;
  std::shared_ptr<WindowCache> cache_;
  int64_t window_rows_;  // of the file
};

}  // namespace dlcheck::reference
