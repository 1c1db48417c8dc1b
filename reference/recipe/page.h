// The page of documentation that is made from the list of keys.
#pragma once

#include <string>

namespace dlcheck::reference {

// Markdown: a table for each section of recipe.def, with name, default, good values and meaning.
std::string RecipePage();

}  // namespace dlcheck::reference
