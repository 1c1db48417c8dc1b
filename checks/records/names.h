// The names behind the numbers of a record file: things, source lines, attributes, and which number
// means which event or quantity. Kept in the side file, each name before the first record that uses
// it.
//
// Lines (fields parted by tabs, see line_file.h):
//   format     MAJOR.MINOR
//   writer     NAME         VERSION
//   run        WORD                          (of the request; empty where there is none)
//   event      NUMBER       NAME
//   quantity   NUMBER       NAME
//   thing      ID           KIND      ORDINAL   NAME
//   site       ID           FILE      LINE      FUNCTION
//   attribute  THING        KEY       VALUE     (thing 0 is the process; a later line replaces)
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "checks/records/expected.h"
#include "checks/records/record.h"
#include "checks/records/record_reader.h"

namespace dlcheck {

std::string_view EventName(Event event);
std::string_view QuantityName(Quantity quantity);
// The letters of quantity.def that say which probes write it.
std::string_view WritersOf(Quantity quantity);
// kNone for a name this version does not know.
Event EventNamed(std::string_view name);
Quantity QuantityNamed(std::string_view name);

// What records can be about. Identity across processes is (kind, ordinal of the model or optimizer
// it belongs to, canonical name).
struct NamedThing {
  std::string kind;  // parameter, module, model, optimizer, group, loss, batch, split, file
  int ordinal = 0;
  std::string name;
  std::map<std::string, std::string> attributes;
};

struct NamedSite {
  std::string file;
  int line = 0;
  std::string function;
};

struct Names {
  std::string writer, writer_version;
  std::string run;                          // of the request
  std::map<uint16_t, Event> events;         // by the writer's number
  std::map<uint16_t, Quantity> quantities;  // by the writer's number
  std::map<uint32_t, NamedThing> things;
  std::map<uint32_t, NamedSite> sites;
  std::map<std::string, std::string> process;  // attributes of the process
};

// File of a run folder that says which source lines the sites are that were recorded as addresses,
// whose file begins with "@": a line each of site, file, line and function.
inline constexpr char kLinesFile[] = "lines";

// Reads so much of a side file as was written when the records up to `extent` were. Lines it does
// not know are passed over.
// Errors: NotFound, Unavailable; Invalid if it is no side file; Newer, also if it is of an older
// format; Damaged if these bytes are not as they were written.
Expected<Names> ReadNames(const std::string& path, const Extent& extent);

// What the name of a metric begins with that says how much memory a line holds.
inline constexpr char kMemoryOf[] = "memory of ";

}  // namespace dlcheck
