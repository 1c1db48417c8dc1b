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
  using Clock = std::chrono::steady_clock;

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
    double samples;             // trained on since the line before, by all ranks
    double tokens;              // of them; 0 where samples have none
    int64_t peak_memory;        // in bytes
  };
  void Write(const Step& step);
  void WriteEvaluation(int64_t step, double loss, double accuracy);

  // While this lives, no time of training passes.
  class Pause {
   public:
    explicit Pause(RunLog& log) : log_(log) {}
    ~Pause() { log_.line_begin_ += Clock::now() - begin_; }
    Pause(const Pause&) = delete;
    Pause& operator=(const Pause&) = delete;

   private:
    RunLog& log_;
    Clock::time_point begin_ = Clock::now();
  };

 private:
  void WriteLine(const std::string& line);
  double Seconds() const;

  int file_ = -1;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point line_begin_ = begin_;  // later by each pause
};

}  // namespace dlcheck::reference
