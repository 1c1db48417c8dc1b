// Tells an exchange that failed because of the others, or of what is between, from what this rank
// did wrong itself.
#pragma once

#include <exception>

namespace dlcheck::reference {

// Whether the error comes from what carries tensors and keys between ranks: gloo, NCCL, the store.
bool IsOfExchange(const std::exception& error);

}  // namespace dlcheck::reference
