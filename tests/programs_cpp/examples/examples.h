// Programs as tutorials of LibTorch show them: each knows nothing of dlcheck, takes no argument,
// and is written as a file of its own. `torch::manual_seed` is called before.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <map>
#include <string>

// By name.
std::map<std::string, void (*)()>& Examples();

struct Example {
  Example(const char* name, void (*program)()) { Examples()[name] = program; }
};

// Pictures (N, 1, side, side) in [0, 1], and their classes (N): each class is a pattern of its own,
// moved by a pixel at most, under noise.
struct Pictures {
  torch::Tensor x, y;
};
Pictures DrawPictures(int64_t count, int64_t side, int64_t classes);
