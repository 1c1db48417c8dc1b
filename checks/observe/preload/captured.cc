#include "checks/observe/preload/captured.h"

#include <torch/csrc/autograd/function.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string_view>
#include <utility>

#include "checks/observe/preload/optimizer_rules.h"

namespace dlcheck {
namespace {

constexpr char kCaptureHead[] = "dlcheck capture 1\n";
constexpr int64_t kMostCaptured = int64_t{1} << 30;  // bytes
constexpr double kRoomForPenalty = 0.1;              // of a loss
constexpr size_t kMostPieces = 1024;  // of a step: losses without one would fill the memory
constexpr size_t kFewestTimes = 20, kMostTimes = 512;

const char* NameOfType(at::ScalarType type) {
  switch (type) {
    case at::kFloat:
      return "float32";
    case at::kDouble:
      return "float64";
    case at::kHalf:
      return "float16";
    case at::kBFloat16:
      return "bfloat16";
    case at::kLong:
      return "int64";
    case at::kInt:
      return "int32";
    case at::kByte:
      return "uint8";
    default:
      return nullptr;
  }
}

bool IsPlain(const at::Tensor& tensor) {
  return tensor.defined() && tensor.layout() == at::kStrided &&
         NameOfType(tensor.scalar_type()) != nullptr;
}

at::Tensor CopyOf(const at::Tensor& tensor) {
  return tensor.detach().to(at::TensorOptions(at::kCPU), false, /*copy=*/true).contiguous();
}

bool IsOfClasses(std::string_view function) {
  return function == "cross_entropy" || function == "nll_loss";
}

bool IsOfNumbers(std::string_view function) {
  return function == "mse_loss" || function == "l1_loss" || function == "smooth_l1_loss" ||
         function == "huber_loss";
}

// Whether the targets are classes, one for each sample or token of `x`, or numbers of each sample.
// Those that are like the inputs are to be built from them.
bool Fits(const CapturedLoss& loss, const at::Tensor& x) {
  const at::Tensor& y = loss.targets;
  if (!IsPlain(y) || !IsPlain(loss.outputs)) return false;
  if (IsOfNumbers(loss.function)) {
    return y.dim() > 0 && y.size(0) == x.size(0) && y.numel() != x.numel() &&
           x.is_floating_point() && y.is_floating_point() && loss.outputs.sizes() == y.sizes();
  }
  if (!IsOfClasses(loss.function) || y.is_floating_point() || loss.outputs.dim() < 2) return false;
  const bool has_one_each = y.dim() == 1 && y.size(0) == x.size(0);
  return has_one_each || (!x.is_floating_point() && y.numel() == x.numel());
}

// Without weights and smoothing; of numbers the squared error.
double PlainLoss(const CapturedLoss& loss) {
  const at::Tensor outputs = loss.outputs.detach().to(at::kFloat);
  if (IsOfNumbers(loss.function)) {
    return (outputs - loss.targets.detach()).square().mean().item<double>();
  }
  const int64_t classes = outputs.size(1);
  const at::Tensor rows = outputs.movedim(1, -1).reshape({-1, classes});
  const at::Tensor targets = loss.targets.reshape({-1});
  const at::Tensor scores =
      std::string_view(loss.function) == "nll_loss" ? rows : rows.log_softmax(1);
  return at::nll_loss(scores, targets, {}, at::Reduction::Mean, loss.ignored).item<double>();
}

// Whether `root` is the loss, or the loss times a number.
bool IsAllOf(const at::Tensor& root, const void* result, const void* node) {
  if (root.unsafeGetTensorImpl() == result) return true;
  if (!root.grad_fn() || node == nullptr) return false;
  const torch::autograd::Node* only = nullptr;
  for (const torch::autograd::Edge& edge : root.grad_fn()->next_edges()) {
    if (!edge.is_valid()) continue;
    if (only != nullptr) return false;
    only = edge.function.get();
  }
  return only == node;
}

std::string Number(double number) {
  if (!std::isfinite(number)) return "null";  // JSON has no other numbers
  char text[32];
  std::snprintf(text, sizeof(text), "%.17g", number);
  return text;
}

std::string Described(const at::Tensor& tensor) {
  std::string shape;
  for (const int64_t extent : tensor.sizes()) {
    shape += (shape.empty() ? "" : ", ") + std::to_string(extent);
  }
  return std::string("{\"dtype\": \"") + NameOfType(tensor.scalar_type()) + "\", \"shape\": [" +
         shape + "]}";
}

std::string_view BytesOf(const at::Tensor& tensor) {
  return {static_cast<const char*>(tensor.data_ptr()), tensor.nbytes()};
}

const char* Word(bool holds) { return holds ? "true" : "false"; }

}  // namespace

Captured::Captured(const Request& request) : process_(getpid()), folder_(request.run_folder) {
  if (request.experiment == "plain") steps_ = request.capture.value_or(0);
}

Captured::~Captured() try {
  if (!file_ || times_.size() < kFewestTimes) return;
  std::nth_element(times_.begin(), times_.begin() + static_cast<std::ptrdiff_t>(times_.size() / 2),
                   times_.end());
  Write("{\"milliseconds\": " + Number(times_[times_.size() / 2]) + "}\n");
} catch (...) {
}

void Captured::Given(int model, const at::Tensor& input) {
  input_ = at::Tensor();
  GivenLater(model, input);
}

void Captured::GivenLater(int model, const at::Tensor& input) {
  const bool is_wanted = steps_ > 0 && !is_over_ && !input_.defined();
  if (!is_wanted || !IsPlain(input) || input.dim() < 2) return;
  const torch::NoGradGuard no_grad;
  input_ = CopyOf(input);
  called_ = model;
}

void Captured::LossGiven(const CapturedLoss& loss) {
  if (steps_ == 0 || is_over_ || !input_.defined() || !Fits(loss, input_)) return;
  const torch::NoGradGuard no_grad;
  const at::Tensor x = std::exchange(input_, at::Tensor());
  if (model_ < 0) model_ = called_;
  if (model_ != called_ || pieces_.size() == kMostPieces) return;
  Piece piece;
  piece.x = x;
  piece.y = CopyOf(loss.targets);
  const bool are_classes = IsOfClasses(loss.function);
  piece.loss = PlainLoss(loss);
  piece.classes = are_classes ? loss.outputs.size(1)
                              : loss.targets.numel() / std::max<int64_t>(loss.targets.size(0), 1);
  piece.has_weights = loss.has_weights;
  piece.has_terms = true;  // until its backward says otherwise
  piece.result = loss.result.unsafeGetTensorImpl();
  piece.node = loss.result.grad_fn().get();
  pieces_.push_back(std::move(piece));
}

void Captured::BackwardBegins(const at::Tensor& root) {
  double sum = 0, count = 0;
  bool is_all = false;
  for (const Piece& piece : pieces_) {
    if (piece.is_reached) continue;
    sum += piece.loss;
    ++count;
    is_all = is_all || (root.defined() && IsAllOf(root, piece.result, piece.node));
  }
  if (count == 0) return;
  if (!is_all && root.defined() && root.numel() == 1) {
    const torch::NoGradGuard no_grad;
    const double whole = root.item<double>();
    for (const double own : {sum, sum / count}) {
      is_all = is_all || std::abs(whole - own) <= kRoomForPenalty * std::abs(own);
    }
  }
  for (Piece& piece : pieces_) {
    if (std::exchange(piece.is_reached, true)) continue;
    piece.has_terms = !is_all;
  }
}

void Captured::StepBegins(const torch::optim::Optimizer& optimizer) {
  if (!is_over_ && !pieces_.empty()) optimizer_ = SettingsOf(optimizer);
}

void Captured::TakeTime(bool is_sampled) {
  const Clock::time_point now = Clock::now();
  const std::optional<Clock::time_point> before = std::exchange(ended_, now);
  if (!before || is_sampled || times_.size() == kMostTimes) return;
  times_.push_back(std::chrono::duration<double, std::milli>(now - *before).count());
}

void Captured::StepEnded(int64_t step, bool is_sampled) {
  if (steps_ == 0) return;
  if (is_over_) return TakeTime(is_sampled);
  input_ = at::Tensor();
  const std::vector<Piece> pieces = std::exchange(pieces_, {});
  if (pieces.empty()) return;
  std::string bytes;
  for (const Piece& piece : pieces) {
    bytes += "{\"step\": " + std::to_string(step) +
             ", \"classes\": " + std::to_string(piece.classes) +
             ", \"dropout\": " + Number(dropout_) + ", \"loss\": " + Number(piece.loss) +
             ", \"class_weights\": " + Word(piece.has_weights) +
             ", \"further_terms\": " + Word(piece.has_terms) + ", \"x\": " + Described(piece.x) +
             ", \"y\": " + Described(piece.y) + ", \"optimizer\": {" + optimizer_ + "}}\n";
    bytes += BytesOf(piece.x);
    bytes += BytesOf(piece.y);
  }
  const int64_t size = file_ ? file_->size() : 0;
  is_over_ = step + 1 >= steps_;
  if (size + static_cast<int64_t>(bytes.size()) > kMostCaptured) {
    bytes = "{\"ended\": \"1024 MiB are the most\"}\n";
    is_over_ = true;
  }
  Write(bytes);
}

void Captured::Write(const std::string& bytes) {
  if (process_ != getpid()) return;
  std::string head;
  if (!file_) {
    Expected<OwnedFile> made =
        OwnedFile::Create(folder_ + "/capture-" + std::to_string(getpid()) + ".batches");
    if (!made.ok()) {
      is_over_ = true;
      return;
    }
    file_ = std::move(*made);
    head = kCaptureHead;
  }
  if (!file_->Append(head + bytes).ok()) is_over_ = true;
}

}  // namespace dlcheck
