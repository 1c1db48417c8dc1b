// Keeps c10d's own account of a lost rank, pages of stack frames for each connection that breaks,
// away from standard error, where one line says it.
#pragma once

namespace dlcheck::reference {

// From now on c10d and gloo print errors and no warnings, unless TORCH_CPP_LOG_LEVEL says how much
// they are to print. Warnings that LibTorch gives this thread are printed, one line each.
void SilenceC10dWarnings();

}  // namespace dlcheck::reference
