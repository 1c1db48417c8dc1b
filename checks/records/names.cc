#include "checks/records/names.h"

#include <cstdlib>

#include "checks/records/crc32.h"
#include "checks/records/line_file.h"

namespace dlcheck {
namespace {

constexpr size_t kLimitBytes = size_t{64} << 20;

struct EventRow {
  Event event;
  std::string_view name;
};
constexpr EventRow kEvents[] = {
#define DLCHECK_EVENT(enumerator, name, number, writers, meaning) {Event::enumerator, name},
#include "checks/records/event.def"
#undef DLCHECK_EVENT
};

struct QuantityRow {
  Quantity quantity;
  std::string_view name;
  std::string_view writers;
};
constexpr QuantityRow kQuantities[] = {
#define DLCHECK_QUANTITY(enumerator, name, number, unit, writers, meaning) \
  {Quantity::enumerator, name, writers},
#include "checks/records/quantity.def"
#undef DLCHECK_QUANTITY
};

uint32_t Number(const std::string& text) {
  return static_cast<uint32_t>(std::strtoul(text.c_str(), nullptr, 10));
}

void TakeLine(const LineFields& fields, Names& names) {
  const std::string& key = fields[0];
  if (key == "writer" && fields.size() >= 3) {
    names.writer = fields[1];
    names.writer_version = fields[2];
  } else if (key == "run" && fields.size() >= 2) {
    names.run = fields[1];
  } else if (key == "event" && fields.size() >= 3) {
    names.events[static_cast<uint16_t>(Number(fields[1]))] = EventNamed(fields[2]);
  } else if (key == "quantity" && fields.size() >= 3) {
    names.quantities[static_cast<uint16_t>(Number(fields[1]))] = QuantityNamed(fields[2]);
  } else if (key == "thing" && fields.size() >= 5) {
    NamedThing& thing = names.things[Number(fields[1])];
    thing.kind = fields[2];
    thing.ordinal = static_cast<int>(Number(fields[3]));
    thing.name = fields[4];
  } else if (key == "site" && fields.size() >= 5) {
    names.sites[Number(fields[1])] = {fields[2], static_cast<int>(Number(fields[3])), fields[4]};
  } else if (key == "attribute" && fields.size() >= 4) {
    const uint32_t id = Number(fields[1]);
    if (id == 0) {
      names.process[fields[2]] = fields[3];
    } else if (const auto thing = names.things.find(id); thing != names.things.end()) {
      thing->second.attributes[fields[2]] = fields[3];
    }
  }
}

}  // namespace

std::string_view EventName(Event event) {
  for (const EventRow& row : kEvents) {
    if (row.event == event) return row.name;
  }
  return "none";
}

std::string_view QuantityName(Quantity quantity) {
  for (const QuantityRow& row : kQuantities) {
    if (row.quantity == quantity) return row.name;
  }
  return "none";
}

std::string_view WritersOf(Quantity quantity) {
  for (const QuantityRow& row : kQuantities) {
    if (row.quantity == quantity) return row.writers;
  }
  return "";
}

Event EventNamed(std::string_view name) {
  for (const EventRow& row : kEvents) {
    if (row.name == name) return row.event;
  }
  return Event::kNone;
}

Quantity QuantityNamed(std::string_view name) {
  for (const QuantityRow& row : kQuantities) {
    if (row.name == name) return row.quantity;
  }
  return Quantity::kNone;
}

Expected<Names> ReadNames(const std::string& path, const Extent& extent) {
  Expected<std::string> text = ReadWholeFile(path, kLimitBytes);
  if (!text.ok()) return text.failure();
  if (text->size() < extent.names) {
    return Failure{Failure::Cause::kDamaged, "'" + path + "' was cut: it has " +
                                                 std::to_string(text->size()) + " of " +
                                                 std::to_string(extent.names) + " bytes"};
  }
  text->resize(extent.names);
  if (Crc32(*text) != extent.names_sum) {
    return Failure{Failure::Cause::kDamaged,
                   "'" + path + "' is damaged, or belongs to other records"};
  }
  const std::vector<LineFields> lines = ParseLines(*text);
  if (lines.empty() || lines[0].size() < 2 || lines[0][0] != "format") {
    return Failure{Failure::Cause::kInvalid,
                   "'" + path + "' is not a side file of dlcheck records"};
  }
  Names names;
  for (const LineFields& fields : lines) TakeLine(fields, names);
  return names;
}

}  // namespace dlcheck
