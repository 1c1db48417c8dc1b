// Dropout that is off, whatever mode the program's modules are in.
#pragma once

#include "checks/observe/preload/experiments/dispatch_tap.h"

namespace dlcheck {

// Puts 0 in the place of each probability of dropout among the arguments: of dropout itself, of
// attention, and of recurrent layers.
void SwitchDropoutOff(const c10::FunctionSchema& schema, OperationValues& arguments);

}  // namespace dlcheck
