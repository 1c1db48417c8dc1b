// All that an experiment started, daemons with sessions of their own too.
#pragma once

#include <sys/types.h>

namespace dlcheck {

// Whether processes whose parent ends become children of this one. Linux only.
void AdoptDescendants(bool adopts);

// Ends every child of this process, and theirs, but for one that is kept. Called once the
// experiment itself was waited for.
void EndDescendants();

// A child that is no part of an experiment, from now on; 0: there is none.
void KeepDescendant(pid_t child);

}  // namespace dlcheck
