// Adds to a finding the line of the user's program that the finding points at.
#pragma once

#include "checks/engine/check.h"
#include "checks/engine/evidence.h"

namespace dlcheck {

// Adds the line of the event that the finding began with: the first one in its steps, else the last
// before, of the finding's own things where they had any. Nothing for a finding that has a line, or
// if no line of such an event was recorded. The line that built a layer or a scheduler goes before
// another one, and where `event` is kLossComputed, lines that compute a loss before its backward.
// Cost: one pass over the events of a run.
void GiveLine(const Evidence& evidence, Event event, Finding& finding);

// Adds the line of such an event although the finding has one: where the call belongs that is
// missing, or where something was built that is to be built otherwise. Nothing where that is not
// certain: several lines built such a thing, and the finding names none of them; or an evaluation
// that is no function of its own. `in_evaluation`: the finding is about evaluations, and so are its
// batches.
void AddLine(const Evidence& evidence, Event event, bool in_evaluation, Finding& finding);

}  // namespace dlcheck
