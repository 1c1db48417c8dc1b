// The models that the trainer has of its own, by their names.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace dlcheck::reference {

inline constexpr std::array<std::string_view, 7> kModels = {"linear", "mlp",  "resnet", "vit",
                                                            "gpt",    "lstm", "unet"};

inline bool IsNameOfModel(std::string_view name) {
  return std::find(kModels.begin(), kModels.end(), name) != kModels.end();
}

// Whether it takes tokens; the others take images or rows of numbers.
inline bool TakesTokens(std::string_view name) { return name == "gpt" || name == "lstm"; }

// As "a, b or c".
inline std::string NamesOfModels() {
  std::string text;
  for (size_t i = 0; i < kModels.size(); ++i) {
    if (i > 0) text += i + 1 == kModels.size() ? " or " : ", ";
    text += kModels[i];
  }
  return text;
}

}  // namespace dlcheck::reference
