#include "reference/data/tokens.h"

#include <utility>

#include "fixtures/read_fixture.h"
#include "fixtures/token_file.h"
#include "reference/recipe/rejection.h"

namespace dlcheck::reference {
namespace {

using File = std::shared_ptr<const TokenFile>;

torch::ScalarType TypeOf(const TokenInfo& info) {
  return info.type == ElementType::kUint8 ? torch::kUInt8 : torch::kUInt16;
}

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
  TokenSource(File file, std::string path, TokenRange range, int64_t context, bool whole)
      : file_(std::move(file)),
        path_(std::move(path)),
        range_(range),
        context_(context),
        rows_((range.size() - 1) / context) {
    if (rows_ < 1) {
      throw InputRejected(path_, "a split of " + std::to_string(range.size()) +
                                     " tokens is shorter than one sample of " +
                                     std::to_string(context) + " and its target");
    }
    if (whole) whole_ = ReadRange(*file_, path_, range_.first, range_.size());
  }

  int64_t rows() const override { return rows_; }

  Batch Take(const std::vector<int64_t>& rows) const override {
    const auto count = static_cast<int64_t>(rows.size());
    Batch batch{torch::empty({count, context_}, torch::kInt64),
                torch::empty({count, context_}, torch::kInt64)};
    for (int64_t i = 0; i < count; ++i) {
      const torch::Tensor tokens = Row(rows[static_cast<size_t>(i)]);
      batch.x[i].copy_(tokens.slice(0, 0, context_));
      batch.y[i].copy_(tokens.slice(0, 1, context_ + 1));
    }
    return batch;
  }

 private:
  // The tokens of a row and the one behind it, (T + 1).
  torch::Tensor Row(int64_t row) const {
    const int64_t first = row * context_;
    return whole_.defined() ? whole_.slice(0, first, first + context_ + 1)
                            : ReadRange(*file_, path_, range_.first + first, context_ + 1);
  }

  File file_;
  std::string path_;
  TokenRange range_;
  int64_t context_;
  int64_t rows_;
  torch::Tensor whole_;  // the split, in the type of the file; undefined if it is read by row
};

}  // namespace

bool IsTokenData(const std::string& path) { return HoldsTokens(path); }

Dataset LoadTokens(const std::string& path, int64_t context, int64_t most_bytes_at_once) {
  if (context < 1) throw UsageError("a sample needs a context of 1 token or more");
  Expected<TokenFile> opened = TokenFile::Open(path);
  if (!opened.ok()) throw InputRejected(path, ReasonOf(opened.failure(), path));
  const File file = std::make_shared<const TokenFile>(std::move(*opened));
  const auto element = static_cast<int64_t>(ElementBytes(file->info().type));
  const auto source = [&](const TokenRange& range) {
    const bool whole = range.size() <= most_bytes_at_once / element;
    return std::make_shared<const TokenSource>(file, path, range, context, whole);
  };
  const TokenInfo& info = file->info();
  return {{context}, info.vocabulary, source(info.train), source(info.val), {}};
}

}  // namespace dlcheck::reference
