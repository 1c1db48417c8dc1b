// What a child does between fork and exec: system calls only, without memory from the heap.
#pragma once

#include <string>
#include <string_view>

namespace dlcheck {

// Writes a file that is there, as those of /proc; what fails is left out.
void WriteAll(const char* path, std::string_view text);

// Writes over `to`, which is there. False if a byte is missing.
bool CopyFile(const char* from, const char* to);

// Mounts what a descriptor stands for on `target`.
bool Bind(int file, const char* target);

// Mounts an overlay on `target`, with what lets folders of the layer below be renamed (the
// superuser) or removed and made again (others); without, where the kernel knows neither.
bool MountLayer(const std::string& target, const std::string& options, bool is_superuser);

}  // namespace dlcheck
