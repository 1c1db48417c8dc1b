// Looks whether ranks can meet at an address, and waits until somebody listens there. c10d would
// try, too, but answers with pages of warnings, and after twice its time-out.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace dlcheck::reference {

// Errors: RanksLost that says why, if no way leads there from this machine. Sends nothing.
void RequireRoute(const std::string& address, uint16_t port);

// Blocks until a connection to `address` is taken, at most `limit`. Errors: RanksLost that says
// whether the name leads nowhere or nobody listens.
void AwaitListener(const std::string& address, uint16_t port, std::chrono::milliseconds limit);

}  // namespace dlcheck::reference
