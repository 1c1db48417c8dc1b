#include "checks/engine/trace.h"

#include "checks/engine/text.h"

namespace dlcheck {

Trace::Trace() : things_(1), sites_(1) {}
Trace::Trace(const Trace& other) = default;
Trace& Trace::operator=(const Trace& other) = default;
Trace::Trace(Trace&& other) noexcept = default;
Trace& Trace::operator=(Trace&& other) noexcept = default;
Trace::~Trace() = default;

ThingId Trace::AddThing(std::string_view kind, int ordinal, std::string_view name) {
  const auto [found, fresh] = thing_ids_.try_emplace(
      {std::string(kind), ordinal, std::string(name)}, static_cast<ThingId>(things_.size()));
  if (fresh) things_.push_back({std::string(kind), ordinal, std::string(name), {}});
  return found->second;
}

SiteId Trace::AddSite(const NamedSite& site) {
  const auto [found, fresh] = site_ids_.try_emplace({site.file, site.line, site.function},
                                                    static_cast<SiteId>(sites_.size()));
  if (fresh) sites_.push_back(site);
  return found->second;
}

void Trace::SetAttribute(ThingId thing, std::string_view key, std::string_view value) {
  things_[thing].attributes[std::string(key)] = std::string(value);
}

void Trace::SetProcessAttribute(std::string_view key, std::string_view value) {
  process_[std::string(key)] = std::string(value);
}

void Trace::AddSample(Quantity quantity, ThingId thing, const Sample& sample) {
  series_[{quantity, thing}].push_back(sample);
}

std::string_view Trace::Attribute(ThingId thing, std::string_view key) const {
  const auto& attributes = things_[thing].attributes;
  const auto found = attributes.find(std::string(key));
  return found == attributes.end() ? std::string_view() : std::string_view(found->second);
}

std::string_view Trace::ProcessAttribute(std::string_view key) const {
  const auto found = process_.find(key);
  return found == process_.end() ? std::string_view() : std::string_view(found->second);
}

std::vector<ThingId> Trace::ThingsOfKind(std::string_view kind) const {
  std::vector<ThingId> ids;
  for (ThingId id = 1; id < things_.size(); ++id) {
    if (things_[id].kind == kind) ids.push_back(id);
  }
  return ids;
}

std::span<const Sample> Trace::Series(Quantity quantity, ThingId thing) const {
  const auto found = series_.find({quantity, thing});
  if (found == series_.end()) return {};
  return found->second;
}

std::vector<ThingId> Trace::ThingsWith(Quantity quantity) const {
  std::vector<ThingId> ids;
  for (auto at = series_.lower_bound({quantity, 0});
       at != series_.end() && at->first.first == quantity; ++at) {
    ids.push_back(at->first.second);
  }
  return ids;
}

std::string Trace::Display(ThingId id) const {
  const NamedThing& thing = things_[id];
  if (thing.name.empty()) return StrCat(thing.kind, "#", thing.ordinal);
  if (thing.ordinal == 0) return thing.name;
  return StrCat("model#", thing.ordinal, "/", thing.name);
}

}  // namespace dlcheck
