// Which fault is planted in the programs of this folder, each of which has more than forty.
#pragma once

#include <string>

#include "tests/programs_cpp/unchanged/programs.h"

namespace table {

inline std::string& Planted() {
  static std::string planted;  // empty: none
  return planted;
}

inline bool Is(const char* fault) { return Planted() == fault; }

struct Program : Registered {
  Program(const char* name, void (*program)())
      : Registered(name, [program](const Arguments& arguments) {
          Planted() = arguments.fault;
          program();
        }) {}
};

}  // namespace table
