#include "diagnostics/cli/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "absl/strings/str_replace.h"
#include "checks/engine/report.h"
#include "checks/engine/text.h"
#include "checks/records/nearest.h"
#include "diagnostics/cli/config/options.h"

namespace dlcheck::cli {
namespace {

constexpr size_t kNameColumn = 34;

// CLI11's own usage line lacks the command's name and knows of no command after two dashes.
class Formatter : public CLI::Formatter {
 public:
  explicit Formatter(std::string usage) : usage_(std::move(usage)) { column_width(kNameColumn); }
  std::string make_usage(const CLI::App*, std::string) const override {
    return StrCat("Usage: dlcheck ", usage_, "\n");
  }

 private:
  std::string usage_;
};

bool IsNamed(const std::string& name) { return name.starts_with("-"); }

bool collects = false;
std::optional<CommandLine> collected;

void TakeRules(const ValueRules& rules, CLI::Option& option) {
  option.required(rules.required);
  // Without a description, which CLI11 would put behind the value's name.
  // The parser's own message shows the largest float with all its digits.
  const auto positive = [](const std::string& text) {
    return CLI::PositiveNumber(text).empty() ? "" : "'" + text + "' is no number above 0";
  };
  if (rules.positive) option.check(CLI::Validator(positive, ""));
  if (!rules.choices.empty()) {
    option.check(CLI::Validator(CLI::IsMember(rules.choices)).description(""));
  }
  if (rules.commas) option.delimiter(',');
}

template <typename T>
CLI::Option& Added(CLI::App& app, const std::string& name, const std::string& meaning, T* target) {
  if constexpr (std::is_same_v<T, bool>) {
    return *app.add_flag(name, *target, meaning);
  } else {
    CLI::Option& option = *app.add_option(name, *target, meaning);
    if constexpr (std::is_same_v<T, Words>) {
      if (IsNamed(name)) option.allow_extra_args(false);
    }
    return option;
  }
}

// CLI11 puts two empty lines before each group.
std::string HelpOf(const CLI::App& app) {
  return absl::StrReplaceAll(app.help(), {{"\n\n\n", "\n\n"}});
}

int RefuseUnknown(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) names.push_back(option->get_name());
  const Words left = app.remaining();
  const std::string word = left.empty() ? "" : left.front();
  return Refuse(
      absl::InvalidArgumentError(StrCat("unknown option '", word, "'", DidYouMean(word, names))));
}

}  // namespace

CommandLine::Collector::Collector() {
  collects = true;
  collected.reset();
}
CommandLine::Collector::~Collector() { collects = false; }
const CommandLine& CommandLine::Collector::line() const { return *collected; }

std::optional<int> CommandLine::Parse(Words words, Words* rest) const {
  if (collects) {
    collected = *this;
    return kExitClean;
  }
  CLI::App app(description_);
  app.set_help_flag("-h,--help", "print this help and exit");
  app.formatter(std::make_shared<Formatter>(usage_));
  if (rest != nullptr) app.allow_extras();
  for (const Option& option : options_) {
    CLI::Option& added = std::visit(
        [&](auto* target) -> CLI::Option& {
          return Added(app, option.name, option.meaning, target);
        },
        option.target);
    TakeRules(option.rules, added);
    if (IsNamed(option.name)) added.group(option.group);
    if (!option.value.empty()) added.type_name(IsNamed(option.name) ? option.value : "");
  }
  try {
    std::reverse(words.begin(), words.end());  // CLI11 takes words from the back
    app.parse(words);
    if (rest != nullptr) *rest = app.remaining();
    return std::nullopt;
  } catch (const CLI::CallForHelp&) {
    std::fputs(HelpOf(app).c_str(), stdout);
    return kExitClean;
  } catch (const CLI::ExtrasError&) {
    return RefuseUnknown(app);
  } catch (const CLI::ParseError& error) {
    return Refuse(absl::InvalidArgumentError(error.what()));
  }
}

}  // namespace dlcheck::cli
