#include "reference/recipe/command_line.h"

#include <CLI/CLI.hpp>
#include <map>
#include <string>

#include "checks/records/nearest.h"
#include "reference/recipe/contradictions.h"
#include "reference/recipe/rejection.h"

namespace dlcheck::reference {
namespace {

// The meaning, with the default where it is not said.
std::string MeaningOf(const Key& key) {
  const std::string initial = Spelled(Recipe(), key);
  std::string meaning = key.meaning;
  if (!key.rule.choices.empty()) meaning += ": " + key.rule.expected;
  if (initial.empty() || initial == "none" || meaning.find("(default") != std::string::npos) {
    return meaning;
  }
  return meaning + " [" + initial + "]";
}

// Refuses words that are no flags, naming the nearest.
void RefuseRest(const std::vector<std::string>& rest) {
  if (rest.empty()) return;
  std::vector<std::string> known = {"--recipe", "--list-faults", "--print-recipe-page", "--help"};
  for (const Key& key : Keys()) known.push_back(std::string("--") + key.name);
  throw UsageError("unknown argument '" + rest.front() + "'" + DidYouMean(rest.front(), known));
}

}  // namespace

CommandLine ReadCommandLine(int count, const char* const* arguments) {
  CommandLine line;
  CLI::App app("dlcheck-train: trains a small model on a fixture, by the book");
  app.allow_extras();
  std::string recipe_file;
  app.add_option("--recipe", recipe_file, "TOML file with the same names as the flags below");
  app.add_flag("--list-faults", line.list_faults,
               "print the faults that can be planted: name, check, options, story");
  app.add_flag("--print-recipe-page", line.print_recipe_page,
               "print the page that describes all keys, as Markdown");
  std::map<std::string, std::string> texts;
  std::map<std::string, CLI::Option*> options;
  for (const Key& key : Keys()) {
    CLI::Option* option =
        app.add_option(std::string("--") + key.name, texts[key.name], MeaningOf(key));
    option->group(key.section)->take_last();
    // A switch may stand alone.
    if (std::holds_alternative<Switch Recipe::*>(key.member)) option->expected(0, 1);
    options[key.name] = option;
  }
  try {
    app.parse(count, arguments);
  } catch (const CLI::CallForHelp& help) {
    line.exit_status = app.exit(help);
    return line;
  } catch (const CLI::ParseError& error) {
    throw UsageError(error.what());
  }
  RefuseRest(app.remaining());
  if (!recipe_file.empty()) AssignFile(line.recipe, recipe_file);
  for (const Key& key : Keys()) {
    if (options[key.name]->empty()) continue;
    const std::string& text = texts[key.name];
    const bool stands_alone = text.empty() && std::holds_alternative<Switch Recipe::*>(key.member);
    Assign(line.recipe, key, stands_alone ? "true" : text);
  }
  RefuseContradictions(line.recipe);
  return line;
}

}  // namespace dlcheck::reference
