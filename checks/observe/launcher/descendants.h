// All that an experiment started, daemons with sessions of their own too.
#pragma once

namespace dlcheck {

// Whether processes whose parent ends become children of this one. Linux only.
void AdoptDescendants(bool adopts);

// Ends every child of this process, and theirs. Called once the experiment itself was waited for.
void EndDescendants();

}  // namespace dlcheck
