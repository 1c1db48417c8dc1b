#include "diagnostics/logs/pickle.h"

#include <bit>
#include <map>
#include <optional>

#include "checks/engine/text.h"

namespace dlcheck {
namespace {

enum Opcode : uint8_t {
  kMark = '(',
  kEmptyTuple = ')',
  kStop = '.',
  kBinBytes = 'B',
  kShortBinBytes = 'C',
  kBinFloat = 'G',
  kBinInt = 'J',
  kBinInt1 = 'K',
  kBinInt2 = 'M',
  kNone = 'N',
  kBinUnicode = 'X',
  kEmptyList = ']',
  kAppend = 'a',
  kAppends = 'e',
  kBinGet = 'h',
  kLongBinGet = 'j',
  kBinPut = 'q',
  kLongBinPut = 'r',
  kSetItem = 's',
  kTuple = 't',
  kSetItems = 'u',
  kEmptyDict = '}',
  kProtocol = 0x80,
  kTuple1 = 0x85,
  kTuple2 = 0x86,
  kTuple3 = 0x87,
  kNewTrue = 0x88,
  kNewFalse = 0x89,
  kLong1 = 0x8A,
  kShortBinUnicode = 0x8C,
  kBinUnicode8 = 0x8D,
  kMemoize = 0x94,
  kFrame = 0x95
};

// The machine of values that such a file is a program for.
class Machine {
 public:
  explicit Machine(std::string_view bytes) : rest_(bytes) {}

  absl::StatusOr<PickledRef> Run() {
    while (!rest_.empty()) {
      const auto opcode = static_cast<uint8_t>(rest_[0]);
      rest_.remove_prefix(1);
      if (opcode == kStop && stack_.size() == 1 && !failed_) return stack_[0];
      if (!Step(opcode)) {
        return absl::InvalidArgumentError(
            StrCat("its pickle holds more than plain values, or is damaged (opcode ", opcode, ")"));
      }
      if (failed_) break;
    }
    return absl::InvalidArgumentError("its pickle is cut off or damaged");
  }

 private:
  // False where the opcode is none of those that plain values need.
  bool Step(uint8_t opcode) {
    return Constant(opcode) || Container(opcode) || Memo(opcode) || Skipped(opcode);
  }

  bool Constant(uint8_t opcode) {
    switch (opcode) {
      case kNone:
        return Push({});
      case kNewTrue:
      case kNewFalse:
        return Push({opcode == kNewTrue});
      case kBinInt1:
        return Push({static_cast<int64_t>(Unsigned(1))});
      case kBinInt2:
        return Push({static_cast<int64_t>(Unsigned(2))});
      case kBinInt:
        return Push({int64_t{static_cast<int32_t>(Unsigned(4))}});
      case kLong1:
        return Push({Long(Unsigned(1))});
      case kBinFloat:
        return Push({BigEndianFloat()});
      case kShortBinUnicode:
      case kShortBinBytes:
        return Push({Bytes(Unsigned(1))});
      case kBinUnicode:
      case kBinBytes:
        return Push({Bytes(Unsigned(4))});
      case kBinUnicode8:
        return Push({Bytes(Unsigned(8))});
      default:
        return false;
    }
  }

  bool Container(uint8_t opcode) {
    switch (opcode) {
      case kEmptyDict:
        return Push({PickledDict()});
      case kEmptyList:
      case kEmptyTuple:
        return Push({PickledList()});
      case kMark:
        marks_.push_back(stack_.size());
        return true;
      case kTuple1:
      case kTuple2:
      case kTuple3:
        return Push({Last(size_t{opcode} - kTuple1 + 1)});
      case kTuple:
        return Push({AfterMark()});
      case kAppend:
        return Append(Last(1));
      case kAppends:
        return Append(AfterMark());
      case kSetItem:
        return SetItems(Last(2));
      case kSetItems:
        return SetItems(AfterMark());
      default:
        return false;
    }
  }

  bool Memo(uint8_t opcode) {
    switch (opcode) {
      case kMemoize:
        return Put(memo_.size());
      case kBinPut:
        return Put(Unsigned(1));
      case kLongBinPut:
        return Put(Unsigned(4));
      case kBinGet:
        return Get(Unsigned(1));
      case kLongBinGet:
        return Get(Unsigned(4));
      default:
        return false;
    }
  }

  bool Skipped(uint8_t opcode) {
    if (opcode != kProtocol && opcode != kFrame) return false;
    Unsigned(opcode == kFrame ? 8 : 1);
    return true;
  }

  bool Fail() {
    failed_ = true;
    return true;
  }

  bool Push(Pickled value) {
    stack_.push_back(std::make_shared<Pickled>(std::move(value)));
    return true;
  }

  std::string Bytes(uint64_t count) {
    if (count > rest_.size()) {
      failed_ = true;
      return "";
    }
    std::string bytes(rest_.substr(0, count));
    rest_.remove_prefix(count);
    return bytes;
  }

  uint64_t Unsigned(size_t size) {
    const std::string bytes = Bytes(size);
    uint64_t value = 0;
    for (size_t i = 0; i < bytes.size(); ++i) {
      value |= uint64_t{static_cast<uint8_t>(bytes[i])} << (8 * i);
    }
    return value;
  }

  // Of at most eight bytes; addresses fit. The sign is in the last one.
  int64_t Long(uint64_t size) {
    if (size > 9) failed_ = true;
    const std::string bytes = Bytes(size);
    if (bytes.empty()) return 0;
    uint64_t value = bytes.back() < 0 ? ~uint64_t{0} : 0;
    for (size_t i = std::min<size_t>(bytes.size(), 8); i > 0; --i) {
      value = value << 8 | static_cast<uint8_t>(bytes[i - 1]);
    }
    return static_cast<int64_t>(value);
  }

  double BigEndianFloat() {
    const std::string bytes = Bytes(8);
    uint64_t bits = 0;
    for (const char byte : bytes) bits = bits << 8 | static_cast<uint8_t>(byte);
    return std::bit_cast<double>(bits);
  }

  PickledList Last(size_t count) {
    if (count > stack_.size()) {
      failed_ = true;
      return {};
    }
    const auto begin = stack_.end() - static_cast<std::ptrdiff_t>(count);
    PickledList last(begin, stack_.end());
    stack_.erase(begin, stack_.end());
    return last;
  }

  PickledList AfterMark() {
    if (marks_.empty() || marks_.back() > stack_.size()) {
      failed_ = true;
      return {};
    }
    const size_t mark = marks_.back();
    marks_.pop_back();
    return Last(stack_.size() - mark);
  }

  bool Append(const PickledList& items) {
    if (failed_ || stack_.empty()) return Fail();
    auto* list = std::get_if<PickledList>(&stack_.back()->value);
    if (list == nullptr) return Fail();
    list->insert(list->end(), items.begin(), items.end());
    return true;
  }

  bool SetItems(const PickledList& items) {
    if (failed_ || stack_.empty() || items.size() % 2 != 0) return Fail();
    auto* dict = std::get_if<PickledDict>(&stack_.back()->value);
    if (dict == nullptr) return Fail();
    for (size_t i = 0; i < items.size(); i += 2) dict->emplace_back(items[i], items[i + 1]);
    return true;
  }

  bool Put(uint64_t number) {
    if (stack_.empty()) return Fail();
    memo_[number] = stack_.back();
    return true;
  }

  bool Get(uint64_t number) {
    const auto found = memo_.find(number);
    if (found == memo_.end()) return Fail();
    stack_.push_back(found->second);
    return true;
  }

  std::string_view rest_;
  PickledList stack_;
  std::vector<size_t> marks_;  // sizes of the stack
  std::map<uint64_t, PickledRef> memo_;
  bool failed_ = false;
};

}  // namespace

absl::StatusOr<PickledRef> ParsePickle(const std::string& bytes) { return Machine(bytes).Run(); }

const Pickled* At(const Pickled& value, std::string_view key) {
  const auto* dict = std::get_if<PickledDict>(&value.value);
  if (dict == nullptr) return nullptr;
  for (const auto& [name, content] : *dict) {
    const auto* text = std::get_if<std::string>(&name->value);
    if (text != nullptr && *text == key) return content.get();
  }
  return nullptr;
}

int64_t IntegerOf(const Pickled* value) {
  const auto* integer = value == nullptr ? nullptr : std::get_if<int64_t>(&value->value);
  return integer == nullptr ? 0 : *integer;
}

std::string TextOf(const Pickled* value) {
  const auto* text = value == nullptr ? nullptr : std::get_if<std::string>(&value->value);
  return text == nullptr ? "" : *text;
}

const PickledList& ListOf(const Pickled* value) {
  static const PickledList kNone;
  const auto* list = value == nullptr ? nullptr : std::get_if<PickledList>(&value->value);
  return list == nullptr ? kNone : *list;
}

}  // namespace dlcheck
