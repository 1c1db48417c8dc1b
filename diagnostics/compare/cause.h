// Why two runs part where they do: seed, data, code, setting, machine, precision or state.
#pragma once

#include <string>
#include <string_view>

#include "diagnostics/compare/difference.h"
#include "diagnostics/compare/facts.h"

namespace dlcheck {

enum class Origin : uint8_t {
  kSeed,
  kData,
  kDataOrder,
  kCode,
  kSetting,
  kMachine,
  kPrecision,
  kState,
  kUnknown
};

std::string_view OriginName(Origin origin);

struct Reason {
  Origin origin = Origin::kUnknown;
  std::string text;  // one or two sentences: the evidence
};

// `shared_batches`: some later batch of B is one of A, at another step.
Reason ReasonFor(const Difference& difference, const Facts& a, const Facts& b, bool shared_batches);

// Whether a batch of B stands elsewhere in A.
bool SharesBatches(const Measured& a, const Measured& b, int64_t offset);

}  // namespace dlcheck
