#include "checks/observe/preload/experiments/model_trial.h"

namespace dlcheck {
namespace {

constexpr int64_t kFewestPositions = 4;

// Whether the targets run ahead of the tokens by so many positions, where they count.
bool RunsAhead(const at::Tensor& tokens, const at::Tensor& targets, int64_t shift) {
  const int64_t last = std::min(targets.size(1), tokens.size(1) - shift);
  if (last < kFewestPositions) return false;
  const at::Tensor part = targets.narrow(1, 0, last), meant = tokens.narrow(1, shift, last);
  const at::Tensor counts = part.ge(0);
  return counts.sum().item<int64_t>() >= kFewestPositions &&
         part.eq(meant).logical_or(counts.logical_not()).all().item<bool>();
}

class FutureTrial : public ModelTrial {
 public:
  const char* name() const override { return "future"; }
  Quantity quantity() const override {
    return shift_ == 1 ? Quantity::kFutureSensitivity : Quantity::kCopiedFutureSensitivity;
  }

  bool ChangesSources() const override { return false; }

  std::string Prepare(const KeptStep& step) override {
    tokens_.reset();
    for (const auto& [place, input] : step.data) {
      for (const auto& [other, target] : step.data) {
        const bool are = input.use == DataUse::kInput && target.use == DataUse::kTarget;
        if (are && !tokens_.defined()) Match(input.data, target.data);
      }
    }
    if (!tokens_.defined()) return "no targets of a loss are the tokens of an input";
    return Staying(step.outputs).defined() ? "" : "no output has a position per token";
  }

  at::Tensor Changed(const at::Tensor& data, DataUse use) const override {
    if (use == DataUse::kTarget || data.sizes() != tokens_.sizes() || !at::equal(data, tokens_)) {
      return data.clone();
    }
    at::Tensor changed = data.clone();
    const int64_t later = tokens_.size(1) - half();
    changed.narrow(1, half(), later).copy_(OtherValues(data).narrow(1, half(), later));
    return changed;
  }

  at::Tensor Staying(const at::Tensor& value) const override {
    const at::Tensor all = AtPositions(value);
    return all.defined() ? all.narrow(1, 0, half()) : OfHeads(value);
  }

  std::string Doubt(const at::Tensor& before, const at::Tensor& after) const override {
    if (at::equal(AtPositions(before), AtPositions(after))) {
      return "the outputs do not depend on the input that contains the targets";
    }
    const bool own_stays =
        at::equal(AtPositions(before).select(1, half()), AtPositions(after).select(1, half()));
    if (shift_ == 0 && own_stays) {
      return "no output depends on the token at its own position: the model shifts its input";
    }
    return "";
  }

 private:
  int64_t half() const { return tokens_.size(1) / 2; }

  void Match(const at::Tensor& tokens, const at::Tensor& targets) {
    if (tokens.scalar_type() != at::kLong || targets.scalar_type() != at::kLong ||
        tokens.dim() != 2 || targets.numel() % tokens.size(0) != 0) {
      return;
    }
    const at::Tensor rows = targets.reshape({tokens.size(0), -1});
    const bool ahead = RunsAhead(tokens, rows, 1), same = RunsAhead(tokens, rows, 0);
    if (ahead == same) return;
    tokens_ = tokens;
    shift_ = ahead ? 1 : 0;
  }

  // (samples, positions, rest) of what has a position for each token.
  at::Tensor AtPositions(const at::Tensor& value) const {
    const int64_t samples = tokens_.size(0), positions = tokens_.size(1);
    if (value.dim() >= 2 && value.size(0) == samples && value.size(1) == positions) return value;
    if (value.dim() == 3 && value.size(0) == samples && value.size(2) == positions) {
      return value.transpose(1, 2);
    }
    if (value.dim() >= 1 && value.size(0) == samples * positions) {
      return value.reshape({samples, positions, -1});
    }
    return {};
  }

  // Of (samples, heads, positions, rest); of the weights of attention, those of earlier positions.
  at::Tensor OfHeads(const at::Tensor& value) const {
    const int64_t positions = tokens_.size(1);
    if (value.dim() != 4 || value.size(0) != tokens_.size(0) || value.size(2) != positions) {
      return {};
    }
    const at::Tensor early = value.narrow(2, 0, half());
    return value.size(3) == positions ? early.narrow(3, 0, half()) : early;
  }

  at::Tensor tokens_;
  int64_t shift_ = 1;
};

}  // namespace

std::unique_ptr<ModelTrial> MakeFutureTrial() { return std::make_unique<FutureTrial>(); }

}  // namespace dlcheck
