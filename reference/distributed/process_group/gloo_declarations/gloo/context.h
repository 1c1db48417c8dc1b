// What ProcessGroupGloo.hpp names of gloo, whose headers do not come with PyTorch: declarations
// alone, for a class that holds gloo's own behind pointers. gloo_group.cc includes these and calls
// nothing of them.
#pragma once

#include <chrono>
#include <memory>

namespace gloo {

class Context {
 public:
  void setTimeout(std::chrono::milliseconds timeout);
};

}  // namespace gloo
