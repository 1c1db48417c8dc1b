// What experiments can be kept away from on this system.
#pragma once

namespace dlcheck::cli {

// Whether an experiment's files can all be copies, tried in a child. Cost: some ten milliseconds.
bool CanHavePrivateFiles();

}  // namespace dlcheck::cli
