// The digest that checkpoints are told apart from broken ones by.
#pragma once

#include <string>
#include <string_view>

namespace dlcheck::reference {

// 64 hexadecimal digits.
std::string Sha256(std::string_view bytes);

}  // namespace dlcheck::reference
