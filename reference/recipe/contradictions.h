// Choices that are good each by itself and make no sense together.
#pragma once

#include "reference/recipe/recipe.h"

namespace dlcheck::reference {

// Errors: UsageError that names both keys.
void RefuseContradictions(const Recipe& recipe);

}  // namespace dlcheck::reference
