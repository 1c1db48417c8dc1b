// Windows of a file, ready to be taken again while rows of them are wanted: the ones that were
// taken last, up to a number of bytes. Beside these, each thread that takes rows holds one.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace dlcheck::reference {

class WindowCache {
 public:
  explicit WindowCache(int64_t most_bytes) : most_bytes_(most_bytes) {}

  int64_t most_bytes() const { return most_bytes_; }

  // The window that begins at `first` and takes up `bytes`: one that is kept, or what `read` gives,
  // and then kept in the place of those that were taken longest ago. One of more than most_bytes is
  // not kept. Threads may call it at once; they read one after the other. Throws what `read`
  // throws.
  torch::Tensor At(int64_t first, int64_t bytes, const std::function<torch::Tensor()>& read);

  int64_t held_bytes() const;  // never more than most_bytes
  int64_t reads() const;       // of windows, so far

 private:
  struct Window {
    int64_t first;
    torch::Tensor content;
  };

  const int64_t most_bytes_;
  mutable std::mutex mutex_;   // of all below
  std::list<Window> windows_;  // the one taken last in front
  std::unordered_map<int64_t, std::list<Window>::iterator> by_first_;
  int64_t held_bytes_ = 0;
  int64_t reads_ = 0;
};

// How many rows make a window: 64, or fewer so that the windows that a shuffled epoch draws from
// fit `most_bytes` twice, which is what is wanted where one group of windows ends and the next
// begins. At least one.
int64_t RowsOfAWindow(int64_t row_bytes, int64_t most_bytes);

// The positions of `rows` in the order in which the file holds them.
std::vector<size_t> InFileOrder(const std::vector<int64_t>& rows);

}  // namespace dlcheck::reference
