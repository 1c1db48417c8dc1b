// How the trainer carries out what a request asks for: each experiment is a change of the plan,
// made before anything is built from it.
#pragma once

#include "checks/records/request.h"
#include "reference/training/plan.h"

namespace dlcheck::reference {

// plain, same_seed  nothing but an earlier end
// one_batch         the first 32 samples of the first batch at every step, without dropout, by the
//                   reference optimizer
// reference         own data and order, by the reference optimizer
// mean_inputs       as reference, with the mean image of the training split for every input
// The reference optimizer is Adam with betas 0.9 and 0.999 and no decay. No experiment writes to a
// path that the recipe names: it saves below the run folder instead, and says so.
//
// Errors: UsageError for an experiment that is not known here, or one without its rate.
void ApplyRequest(const Request& request, Plan& plan);

}  // namespace dlcheck::reference
