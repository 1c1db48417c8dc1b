#include "diagnostics/cli/config/intent.h"

#include <vector>

#include "checks/engine/text.h"
#include "checks/records/nearest.h"

namespace dlcheck::cli {
namespace {

struct Value {
  std::string word, attribute;  // as the user writes it, and as checks read it
};

const std::map<std::string, std::vector<Value>>& Known() {
  static const auto& known = *new std::map<std::string, std::vector<Value>>{
      {"accumulation", {{"mean", "mean"}, {"sum", "sum"}}},
      {"autocast", {{"bf16", "bf16"}, {"fp16", "fp16"}}},
      {"clip", {{"all", "all"}, {"norm", "norm"}}},
      {"documents", {{"apart", "apart"}, {"together", "together"}}},
      {"nonfinite", {{"skip", "skip"}}},
      {"reduction", {{"mean", "mean"}, {"sum", "sum"}}},
      {"shuffle", {{"true", "1"}, {"false", "0"}}},
  };
  return known;
}

}  // namespace

absl::Status Declare(const std::string& key, const std::string& value, Declarations& declarations) {
  const auto known = Known().find(key);
  if (known == Known().end()) {
    std::vector<std::string> keys;
    for (const auto& [name, values] : Known()) keys.push_back(name);
    return absl::InvalidArgumentError(
        StrCat("nothing named '", key, "' can be declared of a program", DidYouMean(key, keys)));
  }
  std::vector<std::string> words;
  for (const Value& allowed : known->second) {
    words.push_back(allowed.word);
    if (allowed.word != value) continue;
    declarations[key] = allowed.attribute;
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      StrCat("program ", key, " is ", Listed(words, words.size()), ", not '", value, "'"));
}

absl::Status DeclareFromText(const std::string& text, Declarations& declarations) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos) {
    return absl::InvalidArgumentError(StrCat("--declare takes KEY=VALUE, not '", text, "'"));
  }
  return Declare(text.substr(0, equals), text.substr(equals + 1), declarations);
}

void SetDeclared(const Declarations& declarations, Trace& trace) {
  for (const auto& [key, value] : declarations) {
    trace.SetProcessAttribute(StrCat("declared.", key), value);
  }
}

}  // namespace dlcheck::cli
