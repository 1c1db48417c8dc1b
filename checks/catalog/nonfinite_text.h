// Words for values that are not finite: where the first was, what they reached, and what made them.
#pragma once

#include <string>
#include <vector>

#include "checks/engine/text.h"
#include "checks/engine/whole.h"
#include "checks/signals/finiteness.h"
#include "checks/signals/replay.h"

namespace dlcheck {

inline std::string NamesOf(const std::vector<Finiteness::Seen>& seen) {
  std::vector<std::string> names;
  for (const Finiteness::Seen& one : seen) {
    names.push_back(
        one.elements > 0
            ? StrCat(one.name, ", ", Counted(Whole(one.elements), "element"))
            : one.name);
  }
  return Listed(names, 1);
}

// Where it began in the step: what comes first in the order in which a value spreads.
inline std::string Origin(const Finiteness::Step& step) {
  if (!step.inputs.empty()) return StrCat("the model's input (", NamesOf(step.inputs), ")");
  if (!step.losses.empty()) return StrCat("the loss (", NamesOf(step.losses), ")");
  if (!step.gradients.empty()) return StrCat("a gradient (", NamesOf(step.gradients), ")");
  return StrCat("a weight (", NamesOf(step.weights), ")");
}

inline std::string Reached(const Finiteness::Step& step) {
  std::vector<std::string> parts;
  if (!step.gradients.empty()) {
    parts.push_back(Counted(static_cast<int64_t>(step.gradients.size()), "gradient"));
  }
  if (!step.weights.empty()) {
    parts.push_back(Counted(static_cast<int64_t>(step.weights.size()), "weight"));
  }
  return Listed(parts);
}

inline std::string GivenTo(const Finiteness::Birth& birth) {
  if (birth.of_nothing) return " (of no elements)";
  if (!birth.has_range) return " (of finite inputs)";
  return StrCat(" (inputs from ", Short(birth.low), " to ", Short(birth.high), ")");
}

inline std::string DistanceOf(const Finiteness::Birth& birth) {
  if (birth.distance == 0) return ", the last operation of the loss";
  return StrCat(", ", Counted(birth.distance, "operation"), " before the loss");
}

// With a space before it; empty where nothing is known, or of another step than the first.
inline std::string BirthText(const Finiteness& finiteness) {
  const Finiteness::Birth& birth = finiteness.birth;
  if (birth.step != finiteness.first.step || finiteness.first.losses.empty()) return "";
  if (birth.of == "operation") {
    return StrCat(" It was born in ", birth.name, GivenTo(birth), DistanceOf(birth), ".");
  }
  if (birth.of == "data") return StrCat(" It came in with data that ", birth.name, " was given.");
  if (birth.of != "parameter") return "";
  return StrCat(" Before that, ", birth.name.empty() ? "a parameter" : birth.name,
                " was not finite.");
}

// The operation and where it stands: "aten::log of inputs in [0, 3.2], in layer body.3".
inline std::string OperationOf(const Replay& replay) {
  std::string text = replay.name;
  if (!replay.inputs.empty()) StrAppend(&text, " of inputs in ", replay.inputs);
  if (replay.phase == "backward") StrAppend(&text, ", in the backward of ", replay.behind);
  if (replay.phase == "update") StrAppend(&text, ", in the update of ", replay.reached);
  if (!replay.module.empty()) StrAppend(&text, ", in layer ", replay.module);
  return text;
}

// With a space before it; what a replay found, or why it found nothing.
inline std::string ReplayText(const Replay& replay) {
  if (!replay.untold.empty()) return StrCat(" A replay did not tell more: ", replay.untold, ".");
  std::string text = " A replay found ";
  if (replay.of == "operation") {
    StrAppend(&text, "it born in ", OperationOf(replay));
  } else if (replay.of == "constant") {
    StrAppend(&text, "that it was put in by ", OperationOf(replay));
  } else if (replay.of == "data") {
    StrAppend(&text, "that it came in with data that ", replay.name, " was given");
  } else {
    StrAppend(&text, "that the ", replay.of, " ", replay.name, " was not finite before that");
  }
  if (replay.samples == "all") {
    text += ", in all samples of the batch";
  } else if (!replay.samples.empty()) {
    StrAppend(&text, ", samples ", replay.samples, " of the batch");
  }
  text += ".";
  if (!replay.batch.empty()) StrAppend(&text, " The batch is in ", replay.batch, ".");
  return text;
}

}  // namespace dlcheck
