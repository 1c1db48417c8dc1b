// The network of an experiment.
#pragma once

namespace dlcheck {

// In a child, between fork and exec: a network of its own for this process and all that it starts,
// in which there is nothing but a loopback device. True if the system allows it.
bool CutNetwork();

// Whether CutNetwork would, tried in a child. Cost: about a millisecond.
bool CanCutNetwork();

}  // namespace dlcheck
