// One record: 64 bytes that say that something happened (an event), what something measured (a
// quantity), or what happened unseen between two sampled steps (a gap). This is the on-disk layout,
// shared by every probe and by the supervisor; names.h describes the side file beside it. C++17
// and POSIX alone, because it is also compiled in users' builds.
#pragma once

#include <cstdint>
#include <type_traits>

namespace dlcheck {

enum class Kind : uint16_t {
  kNone = 0,  // not written yet: the reader stops here
  kEvent = 1,
  kQuantity = 2,
  kGap = 3,   // `number` is an event; `step` the first step, `aux` the last, `value` how often
  kSeal = 4,  // ends a block of records; see Seal
  kEnd = 5,   // a seal behind which nothing follows: the writer was closed
};

// Numbers come from event.def and quantity.def and are mapped by name in the side file, so a reader
// never relies on its own numbering.
enum class Event : uint16_t {
  kNone = 0,
#define DLCHECK_EVENT(enumerator, name, number, writers, meaning) enumerator = number,
#include "checks/records/event.def"
#undef DLCHECK_EVENT
};

enum class Quantity : uint16_t {
  kNone = 0,
#define DLCHECK_QUANTITY(enumerator, name, number, unit, writers, meaning) enumerator = number,
#include "checks/records/quantity.def"
#undef DLCHECK_QUANTITY
};

struct Record {
  Kind kind;
  uint16_t flags;
  uint16_t number;  // of the event or the quantity
  uint16_t rank;
  uint64_t sequence;    // position among all records of its process
  int64_t step;         // optimizer-step calls begun and finished before this, in this process
  uint32_t micro_step;  // backward calls since the last optimizer step
  uint32_t thing;       // ids of the side file; 0 for none
  uint32_t site;
  uint32_t owner;
  double value;
  double aux;
  uint64_t time;  // nanoseconds, monotonic
};
static_assert(sizeof(Record) == 64 && std::is_trivially_copyable_v<Record>,
              "a record is 64 bytes on disk");

// Ends each block, in the place of a record: what stands between two seals was written at once, and
// is trusted only where both sums are right. The header belongs to the first block.
struct Seal {
  Kind kind;  // kSeal or kEnd
  uint16_t unused[3];
  uint64_t sequence;   // of the record that comes next: how many records there are up to here
  uint64_t names;      // how many bytes of the side file were written before this block
  uint32_t names_sum;  // CRC of these bytes
  uint32_t sum;  // CRC of the block, going on from that of the block before; as if 0 stood here
  uint64_t more_unused[4];
};
static_assert(sizeof(Seal) == sizeof(Record) && std::is_trivially_copyable_v<Seal>);

// First 64 bytes of every record file.
struct FileHeader {
  char magic[8];        // kMagic
  uint32_t byte_order;  // kByteOrder as written by the machine
  uint16_t major;       // a reader refuses any other than its own
  uint16_t minor;       // a larger one only adds
  char writer[16];      // "c++" or "python", zero-padded
  char role[16];        // "main", "worker", ..., zero-padded
  uint64_t start;       // time of the first record can be told from here, nanoseconds, monotonic
  uint32_t process;     // process id
  uint32_t record_bytes;
};
static_assert(sizeof(FileHeader) == 64, "the header takes the place of one record");

inline constexpr char kMagic[8] = {'d', 'l', 'c', 'h', 'e', 'c', 'k', '\n'};
inline constexpr uint32_t kByteOrder = 0x01020304;
inline constexpr uint16_t kFormatMajor = 2;
inline constexpr uint16_t kFormatMinor = 0;

}  // namespace dlcheck
