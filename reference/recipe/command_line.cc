#include "reference/recipe/command_line.h"

#include <CLI/CLI.hpp>
#include <map>
#include <string>

#include "checks/records/nearest.h"
#include "reference/recipe/rejection.h"

namespace dlcheck::reference {
namespace {

// Refuses words that are no flags, naming the nearest.
void RefuseRest(const std::vector<std::string>& rest) {
  if (rest.empty()) return;
  std::vector<std::string> known = {"--recipe", "--list-faults", "--help"};
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
  std::map<std::string, std::string> texts;
  std::map<std::string, CLI::Option*> options;
  for (const Key& key : Keys()) {
    options[key.name] = app.add_option(std::string("--") + key.name, texts[key.name], key.meaning);
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
    if (options[key.name]->count() > 0) Assign(line.recipe, key, texts[key.name]);
  }
  return line;
}

}  // namespace dlcheck::reference
