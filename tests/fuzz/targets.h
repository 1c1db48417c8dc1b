// What reads bytes that strangers wrote, each as a function of such bytes: fuzzers call it with
// what they make up, and the ordinary tests with what once failed. A target ends the process where
// what it reads breaks a promise; else it returns, whatever the bytes are.
#pragma once

#include <string_view>

namespace dlcheck::fuzz {

// What a program may put into a finding: every format shows it as text.
void RenderFinding(std::string_view bytes);
void ImportData(std::string_view bytes);
void ReadBaselineFile(std::string_view bytes);
void ReadConfigurationFile(std::string_view bytes);
void ReadFixtureFile(std::string_view bytes);
void ReadLogFile(std::string_view bytes);
void ReadNamesFile(std::string_view bytes);
void ReadRecipeFile(std::string_view bytes);
void ReadRecordFile(std::string_view bytes);
void ReadResultFile(std::string_view bytes);
void ReadRunFiles(std::string_view bytes);
void ReadSamplesFile(std::string_view bytes);
void ReadTensorFile(std::string_view bytes);

}  // namespace dlcheck::fuzz
