// Stands for a header of LibTorch, whose code is not what a user looks for.
#pragma once

template <typename Function, typename Argument>
__attribute__((noinline)) auto CallsBack(Function function, Argument argument) {
  auto result = function(argument);
  asm volatile("" ::: "memory");  // so that this call stays on the stack
  return result;
}
