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

// What stands for the value in the help.
std::string ValueOf(const Key& key) {
  if (std::holds_alternative<Switch Recipe::*>(key.member)) return "true|false";
  if (!key.rule.choices.empty()) return "NAME";
  if (std::holds_alternative<Text Recipe::*>(key.member)) return "TEXT";
  const bool whole = std::holds_alternative<Integer Recipe::*>(key.member) ||
                     std::holds_alternative<OptionalInteger Recipe::*>(key.member);
  return whole ? "INTEGER" : "NUMBER";
}

// Refuses words that are no flags, naming the nearest.
void RefuseRest(const std::vector<std::string>& rest) {
  if (rest.empty()) return;
  std::vector<std::string> known = {
      "--recipe",   "--list-faults",   "--print-recipe-page", "--lr-range", "--gradient-statistics",
      "--baseline", "--baseline-json", "--baseline-steps",    "--help"};
  for (const Key& key : Keys()) known.push_back(std::string("--") + key.name);
  throw UsageError("unknown argument '" + rest.front() + "'" + DidYouMean(rest.front(), known));
}

// A flag for every key; `texts` gets the values, by name.
std::map<std::string, CLI::Option*> AddKeys(CLI::App& app,
                                            std::map<std::string, std::string>& texts) {
  std::map<std::string, CLI::Option*> options;
  for (const Key& key : Keys()) {
    CLI::Option* option =
        app.add_option(std::string("--") + key.name, texts[key.name], MeaningOf(key));
    option->group(key.section)->take_last()->type_name(ValueOf(key));
    // A switch may stand alone.
    if (std::holds_alternative<Switch Recipe::*>(key.member)) option->expected(0, 1);
    options[key.name] = option;
  }
  return options;
}

// What is done instead of a run.
void AddModes(CLI::App& app, CommandLine& line) {
  app.add_flag("--list-faults", line.list_faults,
               "print the faults that can be planted: name, check, options, story");
  app.add_flag("--print-recipe-page", line.print_recipe_page,
               "print the page that describes all keys, as Markdown");
  app.add_flag(
      "--lr-range", line.lr_range,
      "find between which learning rates the recipe learns: three seeds, each from 1e-6 to 10");
  app.add_flag(
      "--gradient-statistics", line.gradient_statistics,
      "print the noise scale and the norms of the gradients of the recipe, of three seeds");
  app.add_option("--baseline", line.baseline,
                 "train baseline models on the batches of a file that dlcheck run --capture wrote, "
                 "or on a data file")
      ->type_name("FILE");
  app.add_option("--baseline-steps", line.baseline_steps, "of --baseline with a data file (300)")
      ->check(CLI::Range(1, 1000000))
      ->type_name("N");
  app.add_option("--baseline-json", line.baseline_json, "of --baseline: write the result, too")
      ->type_name("FILE");
}

}  // namespace

CommandLine ReadCommandLine(int count, const char* const* arguments) {
  CommandLine line;
  CLI::App app("Trains a small model on a fixture, as the documentation of PyTorch says.",
               "dlcheck-train");
  app.allow_extras();
  std::string recipe_file;
  app.add_option("--recipe", recipe_file, "TOML file with the same names as the flags below")
      ->type_name("FILE");
  AddModes(app, line);
  std::map<std::string, std::string> texts;
  const std::map<std::string, CLI::Option*> options = AddKeys(app, texts);
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
    if (options.at(key.name)->empty()) continue;
    const std::string& text = texts.at(key.name);
    const bool stands_alone = text.empty() && std::holds_alternative<Switch Recipe::*>(key.member);
    Assign(line.recipe, key, stands_alone ? "true" : text);
  }
  RefuseContradictions(line.recipe);
  return line;
}

}  // namespace dlcheck::reference
