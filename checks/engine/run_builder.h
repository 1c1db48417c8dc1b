// Writes the runs of examples and tests, record by record, in the order in which a probe would.
// Steps, micro-steps and orders are filled in: a record belongs to the step that is under way.
#pragma once

#include <string>
#include <string_view>

#include "checks/engine/trace.h"

namespace dlcheck {

class RunBuilder {
 public:
  RunBuilder() = default;

  // A parameter of module `MODULE` (its name up to the last dot) in group 0 of optimizer 0.
  RunBuilder& Parameter(std::string_view name);
  RunBuilder& Attribute(std::string_view kind, std::string_view name, std::string_view key,
                        std::string_view value);
  RunBuilder& Process(std::string_view key, std::string_view value);

  // An event in the step under way; kStep also begins the next step.
  RunBuilder& Event(dlcheck::Event event, double value = 0, std::string_view kind = "",
                    std::string_view name = "", double aux = 0);
  // A gap of events from the step under way to `last_step`; Resume goes on after it.
  RunBuilder& Gap(dlcheck::Event event, int64_t last_step, double count);
  RunBuilder& Resume(int64_t step);
  RunBuilder& Quantity(dlcheck::Quantity quantity, std::string_view kind, std::string_view name,
                       double value, double aux = 0);
  RunBuilder& Ends(Ending::How how, int status = 0);
  // Things from here on have this ordinal, as those of another model or optimizer; 0 at first.
  RunBuilder& Ordinal(int ordinal);
  // Records from here on belong to this thing; to none at first, and if `kind` is empty.
  RunBuilder& Owner(std::string_view kind, std::string_view name = "");

  // Events from here on stand in this line of "train.py"; in none at first, and if it is 0.
  RunBuilder& Line(int line);

  // Records from here on are those of another process, from its first step on.
  RunBuilder& Rank(uint16_t rank);

  int64_t step() const { return step_; }
  Run Build() const { return run_; }

 private:
  ThingId Id(std::string_view kind, std::string_view name);

  Run run_{.trace = {}, .ending = {Ending::How::kFinished, 0}};
  int64_t step_ = 0;
  int ordinal_ = 0;
  ThingId owner_ = 0;
  SiteId site_ = 0;
  uint16_t micro_step_ = 0;  // backward calls since the last step
  uint64_t order_ = 0;
  uint16_t rank_ = 0;
};

}  // namespace dlcheck
