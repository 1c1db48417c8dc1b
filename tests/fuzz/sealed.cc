#include "tests/fuzz/sealed.h"

#include <cstring>

#include "checks/records/crc32.h"
#include "checks/records/record.h"

namespace dlcheck::fuzz {
namespace {

template <typename T>
std::string BytesOf(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof(value)};
}

FileHeader HeaderFrom(std::string_view bytes) {
  FileHeader header{};
  std::memcpy(&header, bytes.data(), std::min(bytes.size(), sizeof(header)));
  std::memcpy(header.magic, kMagic, sizeof(kMagic));
  header.byte_order = kByteOrder;
  header.major = kFormatMajor;
  header.record_bytes = sizeof(Record);
  return header;
}

// Puts what is gathered of a block behind `file`, under a seal.
class Sealer {
 public:
  explicit Sealer(std::string_view names) : names_(names) {}

  void Add(Record record) {
    record.sequence = sequence_++;
    block_ += BytesOf(record);
  }
  void AddHeader(const FileHeader& header) { block_ += BytesOf(header); }
  void Seal(Kind kind) {
    dlcheck::Seal seal{};
    seal.kind = kind;
    seal.sequence = sequence_;
    seal.names = names_.size();
    seal.names_sum = Crc32(names_);
    sum_ = Crc32(block_ + BytesOf(seal), sum_);
    seal.sum = sum_;
    file_ += block_ + BytesOf(seal);
    block_.clear();
  }
  const std::string& file() const { return file_; }

 private:
  std::string_view names_;
  std::string file_, block_;
  uint64_t sequence_ = 0;
  uint32_t sum_ = 0;
};

}  // namespace

std::string Sealed(std::string_view bytes, std::string_view names) {
  Sealer sealer(names);
  sealer.AddHeader(HeaderFrom(bytes));
  for (size_t at = sizeof(FileHeader); at + sizeof(Record) <= bytes.size(); at += sizeof(Record)) {
    Record record;
    std::memcpy(&record, bytes.data() + at, sizeof(record));
    if (record.kind == Kind::kSeal || record.kind == Kind::kEnd) {
      sealer.Seal(Kind::kSeal);
    } else if (record.kind != Kind::kNone) {
      sealer.Add(record);
    }
  }
  sealer.Seal(Kind::kEnd);
  return sealer.file();
}

std::string SmallRecords() {
  std::string bytes = BytesOf(HeaderFrom(""));
  for (uint16_t number = 1; number <= 8; ++number) {
    Record record{};
    record.kind = number % 2 == 0 ? Kind::kEvent : Kind::kQuantity;
    record.number = number;
    record.thing = number;
    record.site = number;
    record.step = number;
    record.value = number;
    bytes += BytesOf(record);
  }
  return bytes;
}

}  // namespace dlcheck::fuzz
