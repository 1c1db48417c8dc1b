#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>

#include "diagnostics/samples/samples.h"

namespace dlcheck {
namespace {

using SampleJson = nlohmann::json;

constexpr size_t kMostRows = 64, kMostNumbers = 3 * 64 * 64, kMostLetters = 2000;

std::string TextIn(const SampleJson& line, const char* key) {
  if (!line.contains(key) || !line[key].is_string()) return "";
  return line[key].get<std::string>().substr(0, kMostLetters);
}

std::vector<int64_t> SizesIn(const SampleJson& line, const char* key) {
  std::vector<int64_t> sizes;
  if (!line.contains(key) || !line[key].is_array()) return sizes;
  for (const SampleJson& size : line[key]) {
    if (size.is_number_integer() && sizes.size() < 8) sizes.push_back(size.get<int64_t>());
  }
  return sizes;
}

// "nan", "inf" and "-inf" are texts, for which JSON has no numbers.
double NumberIn(const SampleJson& value) {
  if (value.is_number()) return value.get<double>();
  return value.is_string() ? std::strtod(value.get_ref<const std::string&>().c_str(), nullptr)
                           : NAN;
}

bool Fits(const KeptRows& kept) {
  int64_t numbers = 1;
  for (const int64_t size : kept.size) {
    if (size < 0 || size > static_cast<int64_t>(kMostNumbers)) return false;
    numbers *= size;
    if (numbers > static_cast<int64_t>(kMostNumbers)) return false;
  }
  const bool is_whole =
      !kept.is_picture ||
      (kept.size.size() == 3 && (kept.size[0] == 1 || kept.size[0] == 3) && numbers > 0);
  for (const auto& row : kept.rows) {
    if (static_cast<int64_t>(row.size()) != numbers) return false;
  }
  return is_whole && !kept.rows.empty();
}

std::optional<KeptRows> RowsIn(const SampleJson& line) {
  if (!line.is_object() || !line.contains("rows") || !line["rows"].is_array()) return std::nullopt;
  KeptRows kept{.moment = TextIn(line, "moment"),
                .model = TextIn(line, "model"),
                .role = TextIn(line, "role"),
                .dtype = TextIn(line, "dtype"),
                .shape = SizesIn(line, "shape"),
                .size = SizesIn(line, "size"),
                .is_picture = TextIn(line, "kind") == "picture",
                .rows = {},
                .texts = {}};
  if (line.contains("step") && line["step"].is_number_integer()) kept.step = line["step"];
  for (const SampleJson& row : line["rows"]) {
    if (!row.is_array() || row.size() > kMostNumbers || kept.rows.size() == kMostRows)
      return std::nullopt;
    std::vector<double>& numbers = kept.rows.emplace_back();
    for (const SampleJson& value : row) numbers.push_back(NumberIn(value));
  }
  if (line.contains("texts") && line["texts"].is_array()) {
    for (const SampleJson& text : line["texts"]) {
      if (text.is_string()) kept.texts.push_back(text.get<std::string>().substr(0, kMostLetters));
    }
  }
  if (kept.texts.size() != kept.rows.size()) kept.texts.clear();
  return Fits(kept) ? std::optional(kept) : std::nullopt;
}

}  // namespace

std::vector<KeptRows> ParseSamples(const std::string& lines) {
  std::vector<KeptRows> all;
  for (size_t at = 0; at < lines.size();) {
    const size_t end = std::min(lines.size(), lines.find('\n', at));
    std::optional<KeptRows> kept =
        RowsIn(SampleJson::parse(lines.substr(at, end - at), nullptr, false));
    if (kept) all.push_back(std::move(*kept));
    at = end + 1;
  }
  return all;
}

}  // namespace dlcheck
