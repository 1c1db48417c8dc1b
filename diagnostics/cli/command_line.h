// The options of one subcommand: what each takes, where its value goes, and what it means. Parses
// words and prints the help. CLI11 stands behind it, in one file: it takes five seconds to compile
// in each.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "diagnostics/cli/commands.h"

namespace dlcheck::cli {

// What a value must be, beside its type.
struct ValueRules {
  std::vector<std::string> choices = {};  // empty: any
  bool required = false;
  bool positive = false;
  bool commas = false;  // a list may be parted by commas
};

class CommandLine {
 public:
  // A list takes a value each time that its option is given.
  using Target =
      std::variant<bool*, std::string*, std::optional<std::string>*, std::optional<double>*,
                   std::optional<int64_t>*, std::vector<std::string>*>;

  // `usage` is what follows "Usage: dlcheck ", as in "report [OPTIONS] [DIR]".
  CommandLine(std::string usage, std::string description)
      : usage_(std::move(usage)), description_(std::move(description)) {}

  // Options from here on stand under this title in the help.
  void Group(std::string title) { group_ = std::move(title); }

  // A switch; off where it is not given.
  void Flag(const std::string& name, bool* target, const std::string& meaning) {
    options_.push_back({group_, name, "", meaning, target, {}});
  }

  // An option with a value, which the help shows as `value`; a name without dashes is a word that
  // stands alone. The target keeps its value where the option is not given.
  void Value(const std::string& name, const std::string& value, Target target,
             const std::string& meaning, ValueRules rules = {}) {
    options_.push_back({group_, name, value, meaning, target, std::move(rules)});
  }

  // Sets the targets. On failure or --help prints and returns the exit code. With `rest`, words
  // that are no option of this command are kept there instead of being refused.
  std::optional<int> Parse(Words words, Words* rest = nullptr) const;

  struct Option {
    std::string group, name, value, meaning;
    Target target;
    ValueRules rules;
    bool is_named() const { return name.starts_with("-"); }
  };
  const std::string& usage() const { return usage_; }
  const std::string& description() const { return description_; }
  // Their targets are gone with the command that made them.
  const std::vector<Option>& options() const { return options_; }

  // While one lives, Parse keeps the command line for it, sets nothing, and ends its command.
  class Collector {
   public:
    Collector();
    ~Collector();
    Collector(const Collector&) = delete;
    Collector& operator=(const Collector&) = delete;
    const CommandLine& line() const;
  };

 private:
  std::string usage_, description_;
  std::string group_ = "Options";
  std::vector<Option> options_;
};

}  // namespace dlcheck::cli
