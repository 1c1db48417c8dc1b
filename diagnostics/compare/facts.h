// What is known of a run beside its numbers, and in which of it two runs differ.
#pragma once

#include <string>
#include <vector>

#include "checks/engine/trace.h"

namespace dlcheck {

struct Facts {
  std::vector<std::string> seeds;  // that the program set before its first step, in order
  std::string torch, python, machine, threads, devices, source;
  std::string dtypes;      // of the parameters: "float32"
  std::string autocast;    // "none", or the share of low-precision products in the first steps
  std::string model;       // names and shapes of all parameters
  std::string optimizers;  // types
  std::string batch;       // samples of the first batch
  int64_t parameters = 0;  // elements
  bool loads = false;      // read a state before its first step
};

Facts FactsOf(const Trace& trace);

// A fact that two runs do not share.
struct UnequalFact {
  std::string name;  // "seed"
  std::string a, b;
};

std::vector<UnequalFact> UnequalFacts(const Facts& a, const Facts& b);

}  // namespace dlcheck
