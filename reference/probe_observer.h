// The one place where trainer and probe meet: an observer that passes on what the loop tells.
#pragma once

#include "dlcheck/probe.h"
#include "reference/training/observer.h"

namespace dlcheck::reference {

// `probe` outlives the result. An observer of nothing if nobody watches.
Observer ObserverFor(Probe& probe);

}  // namespace dlcheck::reference
