// The place in the program that called LibTorch: module and offset, which the launcher turns into
// file and line after the run.
#pragma once

#include <string>

#include "dlcheck/probe.h"

namespace dlcheck {

// The frames outside of LibTorch, the C++ library and the probe, the innermost first:
// "@/path/train+0x1a2b|/path/train+0x3c4d" as the file of a site without a line. Empty if there is
// none. The text stays as long as the process.
// Cost: a walk of the stack, some microseconds.
Probe::Site CallSite();
// The same, of a forward pass: the line is to be that of its caller, outside of functions that are
// called forward().
Probe::Site CallSiteOfForward();

// Whether the program itself called the operation that is under way, and not a module of LibTorch.
// Cost: as that of CallSite().
bool IsCalledByProgram();

// Whether code at this address is the program's own.
bool IsProgram(const void* address);

}  // namespace dlcheck
