// Data sets in HDF5.
#include "fixtures/format/read_fixture.h"
#include "fixtures/format/sample_file.h"
#include "tests/fuzz/promises.h"
#include "tests/fuzz/targets.h"

// HDF5 itself forgets memory when it gives up on a damaged file.
extern "C" const char* __lsan_default_suppressions() { return "leak:libhdf5"; }

namespace dlcheck::fuzz {

void ReadFixtureFile(std::string_view bytes) {
  const std::string path = FileWith(bytes, "data.h5");
  const Expected<Fixture> whole = ReadFixture(path);
  const Expected<SampleFile> in_parts = SampleFile::Open(path);
  Require(whole.ok() == in_parts.ok(), "whole and in parts, the same file is refused");
  if (whole.ok()) return;
  Require(whole.failure().message == in_parts.failure().message, "for the same reason");
}

}  // namespace dlcheck::fuzz
