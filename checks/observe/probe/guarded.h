// The border between a program and its probe: no exception passes it, and after the first one the
// probe is quiet.
#pragma once

#include <torch/torch.h>

#include <exception>

#include "checks/observe/probe/probe_recorder.h"

namespace dlcheck {

// Does `call` unless nobody watches or the probe failed before.
template <typename Call>
void Guarded(ProbeRecorder* recorder, const Call& call) {
  if (recorder == nullptr || recorder->quiet()) return;
  try {
    const torch::NoGradGuard no_grad;
    call(*recorder);
  } catch (const c10::Error& error) {
    recorder->GoQuiet(error.what_without_backtrace());
  } catch (const std::exception& error) {
    recorder->GoQuiet(error.what());
  }
}

}  // namespace dlcheck
