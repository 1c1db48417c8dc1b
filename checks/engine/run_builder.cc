#include "checks/engine/run_builder.h"

namespace dlcheck {

ThingId RunBuilder::Id(std::string_view kind, std::string_view name) {
  return kind.empty() ? 0 : run_.trace.AddThing(kind, ordinal_, name);
}

RunBuilder& RunBuilder::Parameter(std::string_view name) {
  const size_t dot = name.rfind('.');
  Attribute("parameter", name, "optimizer", "optimizer#0/group#0");
  Attribute("parameter", name, "requires_grad", "1");
  return Attribute("parameter", name, "module",
                   dot == std::string_view::npos ? "" : name.substr(0, dot));
}

RunBuilder& RunBuilder::Attribute(std::string_view kind, std::string_view name,
                                  std::string_view key, std::string_view value) {
  run_.trace.SetAttribute(Id(kind, name), key, value);
  return *this;
}

RunBuilder& RunBuilder::Process(std::string_view key, std::string_view value) {
  run_.trace.SetProcessAttribute(key, value);
  return *this;
}

RunBuilder& RunBuilder::Event(dlcheck::Event event, double value, std::string_view kind,
                              std::string_view name, double aux) {
  run_.trace.AddEvent({.event = event,
                       .rank = rank_,
                       .micro_step = micro_step_,
                       .step = step_,
                       .last_step = step_,
                       .thing = Id(kind, name),
                       .owner = owner_,
                       .site = site_,
                       .order = order_++,
                       .value = value,
                       .aux = aux});
  if (event == dlcheck::Event::kBackward) ++micro_step_;
  if (event == dlcheck::Event::kStep) Resume(step_ + 1);
  return *this;
}

RunBuilder& RunBuilder::Gap(dlcheck::Event event, int64_t last_step, double count) {
  run_.trace.AddEvent({.event = event,
                       .rank = rank_,
                       .step = step_,
                       .last_step = last_step,
                       .gap = true,
                       .order = order_++,
                       .count = count});
  return *this;
}

RunBuilder& RunBuilder::Resume(int64_t step) {
  step_ = step;
  micro_step_ = 0;
  return *this;
}

RunBuilder& RunBuilder::Quantity(dlcheck::Quantity quantity, std::string_view kind,
                                 std::string_view name, double value, double aux) {
  run_.trace.AddSample(quantity, Id(kind, name),
                       {.step = step_,
                        .order = order_++,
                        .value = value,
                        .aux = aux,
                        .owner = owner_,
                        .rank = rank_,
                        .micro_step = micro_step_});
  return *this;
}

RunBuilder& RunBuilder::Ends(Ending::How how, int status) {
  run_.ending = {how, status};
  return *this;
}

RunBuilder& RunBuilder::Ordinal(int ordinal) {
  ordinal_ = ordinal;
  return *this;
}

RunBuilder& RunBuilder::Owner(std::string_view kind, std::string_view name) {
  owner_ = Id(kind, name);
  return *this;
}

RunBuilder& RunBuilder::Line(int line) {
  site_ = line == 0 ? 0 : run_.trace.AddSite({"train.py", line, "main"});
  return *this;
}

RunBuilder& RunBuilder::Rank(uint16_t rank) {
  rank_ = rank;
  order_ = 0;
  return Resume(0);
}

}  // namespace dlcheck
