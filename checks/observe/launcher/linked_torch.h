// Which LibTorch a command is linked with, before it runs.
#pragma once

#include <string>
#include <vector>

namespace dlcheck {

// The path of the libtorch_cpu.so that the first of the command's words that names a program linked
// with LibTorch would load; empty if there is none. Launchers as mpirun come before the program.
// Asks the dynamic loader, which runs nothing of the program. Cost: some 30 ms a program.
std::string LinkedTorch(const std::vector<std::string>& command);

// Whether a word names a program in machine code, as a shell finds it.
bool NamesProgram(const std::string& word);

// The build id of an ELF file in hexadecimal; empty if it has none.
std::string BuildIdOf(const std::string& path);

}  // namespace dlcheck
