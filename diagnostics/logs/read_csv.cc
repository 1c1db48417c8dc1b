#include <algorithm>

#include "absl/strings/numbers.h"
#include "checks/engine/text.h"
#include "diagnostics/logs/log.h"
#include "diagnostics/logs/step_names.h"

namespace dlcheck {
namespace {

// The cells of the line that begins at `at`, which moves behind it. Quotes as in RFC 4180.
std::vector<std::string> NextLine(const std::string& text, size_t& at) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"') {
      const bool is_doubled = quoted && at + 1 < text.size() && text[at + 1] == '"';
      if (is_doubled) cells.back() += text[++at];
      if (!is_doubled) quoted = !quoted;
    } else if (quoted || (c != ',' && c != '\n')) {
      cells.back() += c;
    } else if (c == ',') {
      cells.emplace_back();
    } else {
      break;
    }
  }
  if (at < text.size()) ++at;
  if (!cells.back().empty() && cells.back().back() == '\r') cells.back().pop_back();
  return cells;
}

class Table {
 public:
  explicit Table(const std::vector<std::string>& names) : names_(names), step_(StepNameIn(names)) {}

  void Add(const std::vector<std::string>& cells, size_t number, Log& log) {
    if (cells.size() == 1 && cells[0].empty()) return;
    if (cells.size() != names_.size()) {
      AddFlaw(StrCat("line ", number, " has ", cells.size(), " cells, the first line has ",
                     names_.size()),
              log);
      return;
    }
    int64_t step = rows_++;
    double written = 0;
    if (step_ < cells.size() && absl::SimpleAtod(cells[step_], &written)) {
      const std::optional<int64_t> whole = StepOf(written);
      if (!whole.has_value()) {
        AddFlaw(StrCat("line ", number, " names no step, but ", cells[step_]), log);
        return;
      }
      step = *whole;
    }
    for (size_t i = 0; i < cells.size(); ++i) {
      double value = 0;
      if (i == step_ || cells[i].empty() || !absl::SimpleAtod(cells[i], &value)) continue;
      log.rows.push_back({step, names_[i], value});
    }
  }

 private:
  const std::vector<std::string>& names_;
  const size_t step_;  // column; past all others where no name says step
  int64_t rows_ = 0;
};

}  // namespace

absl::StatusOr<Log> ReadCsvLog(const std::string& text) {
  Log log{.kind = "table of numbers (CSV)"};
  size_t at = 0;
  const std::vector<std::string> names = NextLine(text, at);
  Table table(names);
  for (size_t number = 2; at < text.size(); ++number) table.Add(NextLine(text, at), number, log);
  if (!text.empty() && text.back() != '\n') AddFlaw("its last line has no end", log);
  if (log.rows.empty()) return absl::InvalidArgumentError("it is a table without numbers");
  return log;
}

}  // namespace dlcheck
