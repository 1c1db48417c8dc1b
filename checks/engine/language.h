// The language of the program that was watched, and advice in its terms.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "checks/engine/check.h"
#include "checks/engine/trace.h"

namespace dlcheck {

enum class Language : uint8_t { kPython, kCpp };

// As the records name their writer; Python where they name none, as logs do.
Language LanguageOf(const Trace& trace);

// The same text with PyTorch's calls as LibTorch spells them: "model.eval()" becomes
// "model->eval()". Text around the calls stays. Source: LibTorch's headers (torch/csrc/api).
std::string InCppTerms(std::string_view text);

// How to mend what the check finds, in the terms of the language.
std::string FixIn(const Check& check, Language language);

}  // namespace dlcheck
