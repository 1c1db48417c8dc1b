// The functions of LibTorch that the preloaded probe goes around.
#pragma once

#include <cstdint>

namespace dlcheck {

enum class Entry : uint8_t {
#define DLCHECK_ENTRY(number, name, symbol) name = number,
#include "checks/observe/preload/entries.def"
#undef DLCHECK_ENTRY
};

// What the gate asks of a worker: the function to call in place of `original`, or null to leave it
// as it is.
using GoAround = void* (*)(int entry, void* original);
inline constexpr char kGoAroundSymbol[] = "dlcheck_go_around";

// Ends a worker's watch: the program has a probe of its own.
using Yield = void (*)();
inline constexpr char kYieldSymbol[] = "dlcheck_yield";

// Closes a worker's records: the process is about to end.
using End = void (*)();
inline constexpr char kEndSymbol[] = "dlcheck_end";

// Folders that may hold a worker, <build id of libtorch_cpu.so>.so, with colons between.
inline constexpr char kWorkersVariable[] = "DLCHECK_WORKERS";

}  // namespace dlcheck
