#include <algorithm>
#include <cstdio>
#include <map>

#include "diagnostics/logs/export.h"

namespace dlcheck {
namespace {

// As in RFC 4180.
std::string CsvQuoted(const std::string& name) {
  if (name.find_first_of(",\"\r\n") == std::string::npos) return name;
  std::string quoted = "\"";
  for (const char c : name) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

}  // namespace

std::string CsvOf(const Log& log) {
  std::map<std::string, size_t> columns;
  std::string text = "step";
  for (const LogRow& row : log.rows) {
    if (!columns.try_emplace(row.name, columns.size()).second) continue;
    text += "," + CsvQuoted(row.name);
  }
  std::vector<std::string> cells(columns.size());
  for (size_t i = 0; i < log.rows.size(); ++i) {
    const LogRow& row = log.rows[i];
    char number[40];
    std::snprintf(number, sizeof(number), "%.17g", row.value);
    cells[columns[row.name]] = number;
    if (i + 1 < log.rows.size() && log.rows[i + 1].step == row.step) continue;
    text += "\n" + std::to_string(row.step);
    for (std::string& cell : cells) text += "," + std::exchange(cell, "");
  }
  return text + "\n";
}

}  // namespace dlcheck
