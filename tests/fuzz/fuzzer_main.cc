// One fuzzer: DLCHECK_FUZZ_TARGET is its target. libFuzzer brings main().
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/targets.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  dlcheck::fuzz::DLCHECK_FUZZ_TARGET({reinterpret_cast<const char*>(data), size});
  return 0;
}
