// The log of a run: JSON lines that can be read while the run goes on. Each line is written whole
// and at once; a run that resumes first takes away the lines of what it will do again.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace dlcheck::reference {

class RunLog {
 public:
  // No file if `path` is empty. Keeps the lines of steps before `step`, and with `evaluated` the
  // evaluation at it; a fresh run keeps none. Errors: UsageError if the file cannot be written.
  RunLog(const std::string& path, int64_t step, bool evaluated);
  ~RunLog();
  RunLog(const RunLog&) = delete;
  RunLog& operator=(const RunLog&) = delete;

  struct Step {
    int64_t step, epoch, updates, skipped;
    double loss;                // of all targets of the step
    std::vector<double> rates;  // by group
    double gradient_norm;       // before clipping; not a number if nobody worked it out
    double loss_scale;          // 1 without a scaler
  };
  void Write(const Step& step);
  void WriteEvaluation(int64_t step, double loss, double accuracy);

 private:
  void WriteLine(const std::string& line);
  double Seconds() const;

  int file_ = -1;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace dlcheck::reference
