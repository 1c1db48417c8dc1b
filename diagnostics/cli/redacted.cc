#include "diagnostics/cli/redacted.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "absl/strings/ascii.h"

namespace dlcheck::cli {
namespace {

constexpr char kMask[] = "***";

// Parts of a name that make its value secret: whole words of it, so that `--monkey` and `--author`
// are kept.
constexpr std::array<std::string_view, 19> kSecretWords{
    "token",      "tokens",      "secret", "secrets", "password",
    "passwd",     "pwd",         "pw",     "pass",    "passphrase",
    "apikey",     "key",         "auth",   "bearer",  "authorization",
    "credential", "credentials", "cookie", "pat"};
// Endings of names written in one word, as `wandbkey` or `accesstoken`.
constexpr std::array<std::string_view, 7> kSecretEndings{
    "apikey", "accesskey", "secretkey", "token", "secret", "password", "wandbkey"};
// Names of numbers of tokens and of keys of data, which no secret has.
constexpr std::array<std::string_view, 18> kHarmlessWords{
    "max",  "min", "num", "n",    "per",  "pad",   "eos",   "bos",   "unk",
    "mask", "sep", "cls", "size", "dict", "count", "input", "label", "sort"};

// Beginnings of the tokens of well-known services, and how long such a word is at least.
struct Shape {
  std::string_view prefix;
  size_t least;
};
constexpr std::array<Shape, 18> kShapes{{{"AKIA", 16},
                                         {"ASIA", 16},
                                         {"hf_", 12},
                                         {"ghp_", 12},
                                         {"gho_", 12},
                                         {"ghs_", 12},
                                         {"ghu_", 12},
                                         {"ghr_", 12},
                                         {"github_pat_", 16},
                                         {"sk-", 12},
                                         {"xoxb-", 12},
                                         {"xoxp-", 12},
                                         {"xoxa-", 12},
                                         {"glpat-", 12},
                                         {"AIza", 20},
                                         {"npm_", 16},
                                         {"pypi-", 16},
                                         {"wandb_", 16}}};

template <size_t n>
bool Holds(const std::array<std::string_view, n>& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

// The words of a name such as "--wandb-key", "AWS_SECRET_ACCESS_KEY" or "apiKey", in lower case.
std::vector<std::string> WordsOf(std::string_view name) {
  std::vector<std::string> words(1);
  bool was_lower = false;
  for (const char c : name) {
    const bool is_upper = absl::ascii_isupper(static_cast<unsigned char>(c));
    const bool is_part = absl::ascii_isalnum(static_cast<unsigned char>(c));
    if (!is_part || (is_upper && was_lower)) words.emplace_back();
    if (is_part) words.back() += absl::ascii_tolower(static_cast<unsigned char>(c));
    was_lower = is_part && !is_upper;
  }
  return words;
}

bool IsSecretName(std::string_view name) {
  const std::vector<std::string> words = WordsOf(name);
  const auto is_harmless = [](const std::string& word) { return Holds(kHarmlessWords, word); };
  if (std::ranges::any_of(words, is_harmless)) return false;
  return std::ranges::any_of(words, [](const std::string& word) {
    if (Holds(kSecretWords, word)) return true;
    return std::ranges::any_of(kSecretEndings,
                               [&word](std::string_view ending) { return word.ends_with(ending); });
  });
}

bool IsTokenCharacter(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-' || c == '.';
}

// How many characters at the start of `text`, which begins a word, are a token of a known service.
size_t TokenLength(std::string_view text) {
  const auto end = std::ranges::find_if_not(text, IsTokenCharacter);
  const auto length = static_cast<size_t>(end - text.begin());
  for (const Shape& shape : kShapes) {
    if (length >= shape.least && text.starts_with(shape.prefix)) return length;
  }
  // A JSON web token: three parts, the first of which is `{"` in base64.
  const std::string_view token = text.substr(0, length);
  const bool is_web_token = token.starts_with("eyJ") && std::ranges::count(token, '.') == 2;
  return is_web_token ? length : 0;
}

std::string WithoutTokens(std::string_view text) {
  std::string clean;
  bool begins = true;
  while (!text.empty()) {
    const size_t length = begins ? TokenLength(text) : 0;
    clean += length > 0 ? std::string_view(kMask) : text.substr(0, 1);
    begins = !IsTokenCharacter(text[0]);
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return clean;
}

// "https://user:password@host" without its password; a user alone may be a token.
std::string WithoutUserinfo(std::string text) {
  for (size_t at = text.find("://"); at != std::string::npos; at = text.find("://", at + 3)) {
    const size_t begin = at + 3;
    const size_t end = std::min(text.find_first_of("/?# \t\n", begin), text.size());
    const size_t sign = text.rfind('@', end);
    if (sign == std::string::npos || sign < begin || sign >= end) continue;
    text.replace(begin, sign - begin, kMask);
  }
  return text;
}

constexpr std::string_view kSeparators = ";,& \t\n";

// "a=1;TOKEN=X&b:2": each assignment to a secret name loses its value.
std::string WithoutAssignments(std::string_view text) {
  std::string clean;
  bool hides_next = false;  // of "Authorization: Bearer X"
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_of(kSeparators), text.size());
    const std::string_view part = text.substr(0, end);
    const size_t sign = part.find_first_of("=:");
    const bool is_assigned = sign != std::string_view::npos && IsSecretName(part.substr(0, sign));
    const std::string lower = absl::AsciiStrToLower(std::string(part));
    const bool is_scheme = lower == "bearer" || lower == "basic";
    if (is_assigned && sign + 1 < part.size()) {
      clean += std::string(part.substr(0, sign + 1)) + kMask;
    } else {
      clean += hides_next && !part.empty() && !is_scheme ? std::string_view(kMask) : part;
    }
    if (!part.empty()) hides_next = is_scheme || (is_assigned && sign + 1 == part.size());
    clean += text.substr(end, 1);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return clean;
}

// `-p X` of clients of databases and registries.
bool TakesSecret(std::string_view word) {
  if (word == "-p") return true;
  return word.starts_with("-") && word.find('=') == std::string_view::npos && IsSecretName(word);
}

}  // namespace

std::vector<std::string> Redacted(const std::vector<std::string>& command) {
  std::vector<std::string> redacted;
  bool is_value = false;
  for (const std::string& word : command) {
    // An option behind another one is no value: `--auth --epochs 3`.
    const bool is_secret = is_value && !word.starts_with("--");
    redacted.push_back(is_secret ? kMask
                                 : WithoutAssignments(WithoutUserinfo(WithoutTokens(word))));
    is_value = !is_secret && TakesSecret(word);
  }
  return redacted;
}

}  // namespace dlcheck::cli
