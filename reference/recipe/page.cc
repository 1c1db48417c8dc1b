#include "reference/recipe/page.h"

#include "reference/recipe/recipe.h"

namespace dlcheck::reference {

std::string RecipePage() {
  std::string page =
      "# The recipe of `dlcheck-train`\n\n"
      "Made by `dlcheck-train --print-recipe-page`; do not edit. Each key is a flag (`--lr 0.1`) "
      "and a "
      "name in the TOML\nfile that `--recipe` reads (`lr = 0.1`); a flag wins over the file. "
      "Recipes that come "
      "with the program: `recipes/`.\n";
  std::string section;
  for (const Key& key : Keys()) {
    if (section != key.section) {
      section = key.section;
      page += "\n## " + section + "\n\n| key | default | values | meaning |\n|---|---|---|---|\n";
    }
    const std::string initial = Spelled(Recipe(), key);
    page += "| `" + std::string(key.name) + "` | " + (initial.empty() ? "" : "`" + initial + "`") +
            " | " + key.rule.expected + " | " + key.meaning + " |\n";
  }
  return page;
}

}  // namespace dlcheck::reference
