// A signal of recorded evidence; a test that asks for one which is not there ends with its reason.
#pragma once

#include <gtest/gtest.h>

#include "checks/engine/evidence.h"
#include "checks/engine/experiment.h"

namespace dlcheck {

template <typename Signal>
Signal SignalOf(const Evidence& evidence) {
  const Run* run = evidence.RunOf(kPlain);
  EXPECT_NE(run, nullptr);
  absl::StatusOr<Signal> signal = Signal::From(*run);
  EXPECT_TRUE(signal.ok()) << signal.status();
  return signal.ok() ? *std::move(signal) : Signal();
}

}  // namespace dlcheck
