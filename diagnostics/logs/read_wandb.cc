// The file run-ID.wandb of an offline run: a log of LevelDB, whose records are messages. Source:
// wandb/proto/wandb_internal.proto and wandb/sdk/internal/datastore.py of the wandb package.
#include <cstring>
#include <nlohmann/json.hpp>

#include "checks/engine/text.h"
#include "diagnostics/logs/log.h"
#include "diagnostics/logs/step_names.h"
#include "diagnostics/logs/wire.h"

namespace dlcheck {
namespace {

constexpr size_t kBlock = 32768, kHeader = 7, kFileHeader = 7;
enum Piece : uint8_t { kFull = 1, kFirst = 2, kMiddle = 3, kLast = 4 };
enum RecordField : uint8_t { kHistory = 2 };
enum HistoryField : uint8_t { kItem = 1, kStep = 2 };
enum ItemField : uint8_t { kKey = 1, kNestedKey = 2, kValueJson = 16 };

struct Item {
  std::string name, json;
};

Item ItemIn(std::string_view message) {
  Item item;
  WireReader reader(message);
  for (WireField field; reader.Next(field);) {
    if (field.number == kKey) item.name = field.bytes;
    if (field.number == kNestedKey) {
      item.name = StrCat(item.name, item.name.empty() ? "" : "/", field.bytes);
    }
    if (field.number == kValueJson) item.json = field.bytes;
  }
  return item;
}

// W&B writes numbers of its own beside those of the program: _step, _runtime, _timestamp. The last
// of them is kept.
void AddHistory(std::string_view message, Log& log) {
  WireReader reader(message);
  int64_t step = 0;
  std::vector<Item> items;
  for (WireField field; reader.Next(field);) {
    if (field.number == kItem) items.push_back(ItemIn(field.bytes));
    if (field.number != kStep) continue;
    WireReader inner(field.bytes);
    for (WireField number; inner.Next(number);) {
      if (number.number == 1) step = static_cast<int64_t>(number.integer);
    }
  }
  for (const Item& item : items) {
    const auto value = nlohmann::json::parse(item.json, nullptr, false);
    if (item.name == "_step" && value.is_number())
      step = StepOf(value.get<double>()).value_or(step);
  }
  for (const Item& item : items) {
    const auto value = nlohmann::json::parse(item.json, nullptr, false);
    double number = NAN;
    if (value.is_number()) number = value.get<double>();
    const bool is_infinite = item.json == "Infinity" || item.json == "\"Infinity\"";
    if (is_infinite) number = INFINITY;
    const bool is_number =
        value.is_number() || is_infinite || item.json == "NaN" || item.json == "\"NaN\"";
    const bool is_own = !item.name.starts_with("_") || item.name == "_timestamp";
    if (is_number && is_own) log.rows.push_back({step, item.name, number});
  }
}

void AddRecord(std::string_view message, Log& log) {
  WireReader reader(message);
  for (WireField field; reader.Next(field);) {
    if (field.number == kHistory) AddHistory(field.bytes, log);
  }
}

}  // namespace

absl::StatusOr<Log> ReadWandbFile(const std::string& bytes) {
  Log log{.kind = "offline run of W&B"};
  std::string record;
  size_t at = kFileHeader;
  while (at + kHeader <= bytes.size()) {
    if (kBlock - at % kBlock < kHeader) {  // too little room for a piece: zeros
      at += kBlock - at % kBlock;
      continue;
    }
    uint16_t size = 0;
    std::memcpy(&size, bytes.data() + at + 4, sizeof(size));
    const auto piece = static_cast<uint8_t>(bytes[at + 6]);
    if (at + kHeader + size > bytes.size()) break;
    if (piece == kFull || piece == kFirst) record.clear();
    record.append(bytes, at + kHeader, size);
    if (piece == kFull || piece == kLast) AddRecord(record, log);
    at += kHeader + size;
  }
  if (at < bytes.size()) AddFlaw("it is cut off in its last record", log);
  if (log.rows.empty()) return absl::InvalidArgumentError("it holds no numbers of the program");
  return log;
}

}  // namespace dlcheck
