// Text about non-finite values (NaN or Inf): where the first was, what it reached, and its origin.
#pragma once

#include <string>
#include <vector>

#include "checks/engine/text.h"
#include "checks/engine/whole.h"
#include "checks/signals/gradients/finiteness.h"
#include "checks/signals/gradients/replay.h"

namespace dlcheck {

inline std::string NamesOf(const std::vector<Finiteness::Seen>& seen) {
  std::vector<std::string> names;
  for (const Finiteness::Seen& one : seen) {
    names.push_back(one.elements > 0
                        ? StrCat(one.name, ", ", Counted(Whole(one.elements), "element"))
                        : one.name);
  }
  return Listed(names, 1);
}

// The first place in the step, in the order in which a value spreads.
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
  if (birth.of_nothing) return " (with no elements)";
  if (!birth.has_range) return " (with finite inputs)";
  return StrCat(" (inputs from ", Short(birth.low), " to ", Short(birth.high), ")");
}

inline std::string DistanceOf(const Finiteness::Birth& birth) {
  if (birth.distance == 0) return ", the last operation of the loss";
  return StrCat(", ", Counted(birth.distance, "operation"), " before the loss");
}

// With a space before it; empty if nothing is known, or only about a later step.
inline std::string BirthText(const Finiteness& finiteness) {
  const Finiteness::Birth& birth = finiteness.birth;
  if (birth.step != finiteness.first.step || finiteness.first.losses.empty()) return "";
  if (birth.of == "operation") {
    return StrCat(" Its origin is ", birth.name, GivenTo(birth), DistanceOf(birth), ".");
  }
  if (birth.of == "data") return StrCat(" Its origin is the input data of ", birth.name, ".");
  if (birth.of != "parameter") return "";
  return StrCat(" Before that, ", birth.name.empty() ? "a parameter" : birth.name,
                " was already non-finite.");
}

// The operation and its place: "aten::log with inputs in [0, 3.2], in layer body.3".
inline std::string OperationOf(const Replay& replay) {
  std::string text = replay.name;
  if (!replay.inputs.empty()) StrAppend(&text, " with inputs in ", replay.inputs);
  if (replay.phase == "backward") StrAppend(&text, ", in the backward of ", replay.behind);
  if (replay.phase == "update") StrAppend(&text, ", in the update of ", replay.reached);
  if (!replay.module.empty()) StrAppend(&text, ", in layer ", replay.module);
  return text;
}

// With a space before it; the origin that a replay found, or why it found none.
inline std::string ReplayText(const Replay& replay) {
  if (!replay.untold.empty())
    return StrCat(" A replay could not find the origin: ", replay.untold, ".");
  std::string text = " A replay found that the origin is ";
  if (replay.of == "operation") {
    StrAppend(&text, OperationOf(replay));
  } else if (replay.of == "constant") {
    StrAppend(&text, "a constant written by ", OperationOf(replay));
  } else if (replay.of == "data") {
    StrAppend(&text, "the input data of ", replay.name);
  } else {
    StrAppend(&text, "the ", replay.of, " ", replay.name, ", which was non-finite before");
  }
  if (replay.samples == "all") {
    text += ", in all samples of the batch";
  } else if (!replay.samples.empty()) {
    StrAppend(&text, ", samples ", replay.samples, " of the batch");
  }
  text += ".";
  if (!replay.batch.empty()) StrAppend(&text, " The batch is saved in ", replay.batch, ".");
  return text;
}

}  // namespace dlcheck
