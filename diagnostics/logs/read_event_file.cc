// Event files of TensorBoard: records of a length, its checksum, an Event and the checksum of that.
// Source: tensorflow/core/util/event.proto, summary.proto and tensor.proto, and the format of
// TFRecord in TensorFlow's documentation.
#include <bit>
#include <cstring>
#include <optional>

#include "checks/engine/text.h"
#include "diagnostics/logs/log.h"
#include "diagnostics/logs/step_names.h"
#include "diagnostics/logs/wire.h"

namespace dlcheck {
namespace {

constexpr size_t kHead = 12, kFoot = 4;  // bytes of a record beside its Event
enum EventField : uint8_t { kWallTime = 1, kStepOfEvent = 2, kSummary = 5 };
enum SummaryField : uint8_t { kValue = 1 };
enum ValueField : uint8_t { kTag = 1, kSimpleValue = 2, kTensor = 8 };
enum TensorField : uint8_t { kType = 1, kContent = 4, kFloats = 5, kDoubles = 6 };
constexpr uint64_t kFloatType = 1, kDoubleType = 2;

double FloatOf(uint64_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits)); }

template <typename T>
std::optional<double> OneOf(std::string_view bytes) {
  if (bytes.size() != sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data(), sizeof(T));
  return static_cast<double>(value);
}

// Of a tensor of one number.
std::optional<double> NumberIn(std::string_view tensor) {
  WireReader reader(tensor);
  uint64_t type = 0;
  std::optional<double> number;
  for (WireField field; reader.Next(field);) {
    if (field.number == kType) type = field.integer;
    const bool is_float = field.number == kFloats || type == kFloatType;
    const bool holds =
        field.number == kContent || field.number == kFloats || field.number == kDoubles;
    if (!holds) continue;
    if (field.bytes.empty() && field.number == kFloats) number = FloatOf(field.integer);
    if (field.bytes.empty() && field.number == kDoubles)
      number = std::bit_cast<double>(field.integer);
    if (field.bytes.empty()) continue;
    number = is_float ? OneOf<float>(field.bytes) : OneOf<double>(field.bytes);
  }
  return number;
}

void AddValue(std::string_view message, int64_t step, Log& log) {
  WireReader reader(message);
  std::string name;
  std::optional<double> value;
  for (WireField field; reader.Next(field);) {
    if (field.number == kTag) name = field.bytes;
    if (field.number == kSimpleValue && field.bytes.empty()) value = FloatOf(field.integer);
    if (field.number == kTensor) value = NumberIn(field.bytes);
  }
  if (value.has_value() && !name.empty()) log.rows.push_back({step, name, *value});
}

// False where the Event is damaged.
bool AddEvent(std::string_view message, Log& log) {
  WireReader reader(message);
  int64_t step = 0;
  double time = 0;
  std::string_view summary;
  for (WireField field; reader.Next(field);) {
    if (field.number == kWallTime) time = std::bit_cast<double>(field.integer);
    if (field.number == kStepOfEvent) step = static_cast<int64_t>(field.integer);
    if (field.number == kSummary) summary = field.bytes;
  }
  if (reader.is_damaged()) return false;
  WireReader values(summary);
  for (WireField field; values.Next(field);) {
    if (field.number == kValue) AddValue(field.bytes, step, log);
  }
  if (!summary.empty()) log.rows.push_back({step, "wall_time", time});
  return !values.is_damaged();
}

}  // namespace

absl::StatusOr<Log> ReadEventFile(const std::string& bytes) {
  Log log{.kind = "event file of TensorBoard"};
  size_t at = 0, records = 0;
  while (bytes.size() - at >= kHead) {
    uint64_t size = 0;
    std::memcpy(&size, bytes.data() + at, sizeof(size));
    if (size > bytes.size() - at - kHead || bytes.size() - at - kHead - size < kFoot) break;
    if (!AddEvent(std::string_view(bytes).substr(at + kHead, size), log)) {
      AddFlaw(StrCat("record ", records, " is damaged"), log);
    }
    at += kHead + size + kFoot;
    ++records;
  }
  if (at < bytes.size()) AddFlaw(StrCat("it is cut off after record ", records), log);
  if (log.rows.empty()) return absl::InvalidArgumentError("it holds no scalars");
  return log;
}

}  // namespace dlcheck
