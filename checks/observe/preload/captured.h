// Keeps the batches of the first steps whole, where the user asked for it with --capture: what the
// model was given, the targets, and the loss. The same file as of the Python probe, whose
// hooks/captured.py says what is kept; of several models, the one that trains first.
#pragma once

#include <sys/types.h>
#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "checks/records/owned_file.h"
#include "checks/records/request.h"

namespace dlcheck {

// A call of a loss function in training.
struct CapturedLoss {
  const char* function;  // of torch::nn::functional
  at::Tensor result, outputs, targets;
  int64_t ignored;  // class number whose targets do not count
  bool has_weights;
};

class Captured {
 public:
  // Off but in a plain run that is asked for it.
  explicit Captured(const Request& request);
  ~Captured();

  // A model is given a batch in training. Cost: a copy of it.
  void Given(int model, const at::Tensor& input);
  // A layer of it is given more: positions may have come first, which are no batch.
  void GivenLater(int model, const at::Tensor& input);
  void Dropped(double probability) { dropout_ = std::max(dropout_, probability); }
  // Cost: a copy of the targets, and the plain loss computed again.
  void LossGiven(const CapturedLoss& loss);
  void BackwardBegins(const at::Tensor& root);
  void StepBegins(const torch::optim::Optimizer& optimizer);
  // `is_sampled`: this step or the next one is recorded. Cost: writes what the step was given.
  void StepEnded(int64_t step, bool is_sampled);

 private:
  struct Piece {
    at::Tensor x, y;
    double loss;
    int64_t classes;
    bool has_weights, has_terms;
    bool is_reached = false;  // a backward began after it
    // Of the loss, to be compared alone: it is not kept alive.
    const void* result = nullptr;
    const void* node = nullptr;
  };
  using Clock = std::chrono::steady_clock;

  void Write(const std::string& bytes);
  void TakeTime(bool is_sampled);

  int64_t steps_ = 0;  // that are kept; 0: none
  pid_t process_ = 0;  // a child of it writes nothing
  std::string folder_;
  std::optional<OwnedFile> file_;
  bool is_over_ = false;
  at::Tensor input_;  // of the model that was called last
  int called_ = -1, model_ = -1;
  double dropout_ = 0;  // the largest probability so far
  std::vector<Piece> pieces_;
  std::string optimizer_;  // of the step under way, as JSON
  std::optional<Clock::time_point> ended_;
  std::vector<double> times_;  // of later steps, in milliseconds
};

}  // namespace dlcheck
