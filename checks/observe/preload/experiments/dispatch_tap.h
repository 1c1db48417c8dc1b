// Every operation that the watched thread calls, before and after it works: its arguments may be
// replaced. For experiments alone: a plain run is never tapped.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/torch.h>

#include <string>
#include <vector>

namespace dlcheck {

using OperationValues = std::vector<c10::IValue>;

class Tap {
 public:
  virtual ~Tap() = default;
  // Operations within others are not told, nor are those of a backward or of the probe itself. What
  // stands in `arguments` afterwards is what the operation is given, and what stands in `results`,
  // what it gives. Both are called without gradients; whether the program has them enabled is told.
  virtual void Before(const c10::FunctionSchema& schema, bool has_gradients,
                      OperationValues& arguments) = 0;
  virtual void After(const c10::FunctionSchema& schema, const OperationValues& arguments,
                     OperationValues& results) = 0;
  // One of these threw. Ends the process: no exception of ours reaches the program.
  [[noreturn]] virtual void Failed(const std::string& cause) = 0;
};

// From here on in this thread; the tap must outlive it. A boxed fallback of a dispatch key that no
// tensor has, above autograd: what is replaced is what the graph remembers. Cost: some microseconds
// an operation.
void BeginTap(Tap& tap);

// Whether an operation that begins now is to be looked at: without a tap all are, with one those
// that it hands on.
bool MayLookAtOperation();

}  // namespace dlcheck
