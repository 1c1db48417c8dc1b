// Tables, arrays, pictures and texts that are made into data files.
#include <filesystem>

#include "fixtures/format/read_fixture.h"
#include "fixtures/import/import.h"
#include "tests/fuzz/promises.h"
#include "tests/fuzz/targets.h"

namespace dlcheck::fuzz {
namespace {

// The first byte says which kind; of arrays the second says where y begins.
std::vector<std::string> SourcesOf(std::string_view bytes) {
  const uint8_t kind = bytes.empty() ? 0 : static_cast<uint8_t>(bytes[0]) % 4;
  const std::string_view rest = bytes.substr(bytes.empty() ? 0 : 1);
  if (kind == 0) return {FileWith(rest, "table.csv")};
  if (kind == 1) return {FileWith(rest, "text.txt")};
  if (kind == 2 && !rest.empty()) {
    const size_t cut = (rest.size() - 1) * static_cast<uint8_t>(rest[0]) / 256;
    return {FileWith(rest.substr(1, cut), "x.npy"), FileWith(rest.substr(1 + cut), "y.npy")};
  }
  FileWith(rest, "pictures/one/picture.png");
  const std::filesystem::path picture = FileWith(rest, "pictures/other/picture.png");
  return {picture.parent_path().parent_path()};
}

}  // namespace

void ImportData(std::string_view bytes) {
  ImportOptions options;
  options.sources = SourcesOf(bytes);
  options.validation = 0.5;
  const Expected<Imported> imported = Import(options);
  if (!imported.ok()) return;
  const auto* const fixture = std::get_if<Fixture>(&*imported);
  if (fixture != nullptr) Require(RefusalOf(*fixture).empty(), "what is imported can be read");
}

}  // namespace dlcheck::fuzz
