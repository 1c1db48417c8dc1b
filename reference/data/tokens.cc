#include "reference/data/tokens.h"

#include <algorithm>
#include <utility>

#include "fixtures/format/read_fixture.h"
#include "fixtures/format/token_file.h"
#include "reference/data/window_cache.h"
#include "reference/recipe/rejection.h"

namespace dlcheck::reference {
namespace {

using File = std::shared_ptr<const TokenFile>;

torch::ScalarType TypeOf(const TokenInfo& info) {
  return info.type == ElementType::kUint8 ? torch::kUInt8 : torch::kUInt16;
}

int64_t BytesOf(const TokenInfo& info) { return static_cast<int64_t>(ElementBytes(info.type)); }

// Tokens `first` to `first + count` of the stream, (count), in the type of the file.
torch::Tensor ReadRange(const TokenFile& file, const std::string& path, int64_t first,
                        int64_t count) {
  const torch::Tensor tokens = torch::empty({count}, TypeOf(file.info()));
  const Expected<Done> read = file.Read(first, count, tokens.mutable_data_ptr());
  if (!read.ok()) throw InputRejected(path, ReasonOf(read.failure(), path));
  return tokens;
}

class TokenSource : public Source {
 public:
  // Reads the split whole if there is no `cache`.
  TokenSource(File file, std::string path, TokenRange range, int64_t context,
              std::shared_ptr<WindowCache> cache)
      : file_(std::move(file)),
        path_(std::move(path)),
        range_(range),
        context_(context),
        rows_((range.size() - 1) / context),
        cache_(std::move(cache)) {
    if (rows_ < 1) {
      throw InputRejected(path_, "a split of " + std::to_string(range.size()) +
                                     " tokens is shorter than one sample of " +
                                     std::to_string(context) + " and its target");
    }
    if (cache_ == nullptr) {
      window_rows_ = rows_;
      whole_ = ReadRange(*file_, path_, range_.first, range_.size());
    } else {
      window_rows_ = RowsOfAWindow(context * BytesOf(file_->info()), cache_->most_bytes());
    }
  }

  int64_t rows() const override { return rows_; }

  Batch Take(const std::vector<int64_t>& rows) const override {
    const auto count = static_cast<int64_t>(rows.size());
    Batch batch{torch::empty({count, context_}, torch::kInt64),
                torch::empty({count, context_}, torch::kInt64)};
    torch::Tensor window;
    int64_t number = -1;  // of the window
    for (const size_t position : InFileOrder(rows)) {
      if (rows[position] / window_rows_ != number) {
        number = rows[position] / window_rows_;
        window = Window(number);
      }
      const int64_t first = rows[position] % window_rows_ * context_;
      const auto i = static_cast<int64_t>(position);
      batch.x[i].copy_(window.slice(0, first, first + context_));
      batch.y[i].copy_(window.slice(0, first + 1, first + 1 + context_));
    }
    return batch;
  }

  std::vector<int64_t> WindowEnds() const override {
    std::vector<int64_t> ends;
    for (int64_t end = window_rows_; cache_ != nullptr && end < rows_ + window_rows_;
         end += window_rows_) {
      ends.push_back(std::min(end, rows_));
    }
    return ends;
  }

 private:
  // The tokens of its rows and the one behind them.
  torch::Tensor Window(int64_t number) const {
    if (cache_ == nullptr) return whole_;
    const int64_t first = number * window_rows_;
    const int64_t tokens = std::min(window_rows_, rows_ - first) * context_ + 1;
    const int64_t position = range_.first + first * context_;
    return cache_->At(position, tokens * BytesOf(file_->info()),
                      [&] { return ReadRange(*file_, path_, position, tokens); });
  }

  File file_;
  std::string path_;
  TokenRange range_;
  int64_t context_;
  int64_t rows_;
  std::shared_ptr<WindowCache> cache_;
  int64_t window_rows_;
  torch::Tensor whole_;  // the split, in the type of the file; undefined if there is a cache
};

}  // namespace

bool IsTokenData(const std::string& path) { return HoldsTokens(path); }

Dataset LoadTokens(const std::string& path, int64_t context, int64_t most_bytes_at_once) {
  if (context < 1) throw UsageError("a sample needs a context of 1 token or more");
  Expected<TokenFile> opened = TokenFile::Open(path);
  if (!opened.ok()) throw InputRejected(path, ReasonOf(opened.failure(), path));
  const File file = std::make_shared<const TokenFile>(std::move(*opened));
  const TokenInfo& info = file->info();
  const auto cache = std::make_shared<WindowCache>(most_bytes_at_once);
  bool all_whole = true;
  const auto source = [&](const TokenRange& range) {
    const bool whole = range.size() <= most_bytes_at_once / BytesOf(info);
    all_whole &= whole;
    return std::make_shared<const TokenSource>(file, path, range, context, whole ? nullptr : cache);
  };
  Dataset dataset{{context}, info.vocabulary, source(info.train), source(info.val), nullptr, {}};
  if (!all_whole) dataset.windows = cache;
  return dataset;
}

}  // namespace dlcheck::reference
