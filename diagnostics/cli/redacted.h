// A command line as it may be kept: without passwords, keys and tokens.
#pragma once

#include <string>
#include <vector>

namespace dlcheck::cli {

// Secrets become "***". A word is secret by the name before it (`--api-key X`, `TOKEN=X`, `-p X`),
// by its shape (`hf_...`, `AKIA...`, a JSON web token), or as the password in a URL. A word that
// joins several assignments (`a=1;TOKEN=X`) loses the secret ones. Cost: one pass over each word.
std::vector<std::string> Redacted(const std::vector<std::string>& command);

}  // namespace dlcheck::cli
