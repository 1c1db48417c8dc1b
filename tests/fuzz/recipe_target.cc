// Recipes of the trainer.
#include "reference/recipe/recipe.h"
#include "reference/recipe/rejection.h"
#include "tests/fuzz/promises.h"
#include "tests/fuzz/targets.h"

namespace dlcheck::fuzz {

void ReadRecipeFile(std::string_view bytes) {
  reference::Recipe recipe;
  try {
    reference::AssignFile(recipe, FileWith(bytes, "recipe.toml"));
  } catch (const reference::InputRejected&) {
    // refused: as it should be
  } catch (const reference::UsageError&) {
    // refused: as it should be
  }
}

}  // namespace dlcheck::fuzz
