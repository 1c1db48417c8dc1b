// Before ranks do anything together: whether they are to do the same.
#pragma once

#include "reference/distributed/process_group/ranks.h"
#include "reference/recipe/recipe.h"

namespace dlcheck::reference {

// All ranks call. Compares LibTorch's version, this program, every key of the recipe but paths, and
// what is in the file of data. Errors: UsageError on every rank, which names the first rank that
// has something else, and what. Cost: one small collective, and what DigestOfFile reads.
void RequireSameConfig(const Ranks& ranks, const Recipe& recipe);

}  // namespace dlcheck::reference
