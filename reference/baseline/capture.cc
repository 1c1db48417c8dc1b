#include "reference/baseline/capture.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>

#include "reference/baseline/standardize.h"
#include "reference/checkpoint/durable_file.h"
#include "reference/recipe/rejection.h"

namespace dlcheck::reference {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kHead = "dlcheck capture 1\n";
constexpr int64_t kMostElements = int64_t{1} << 40;

at::ScalarType TypeNamed(const std::string& path, const std::string& name) {
  static const std::map<std::string, at::ScalarType> types = {
      {"float32", at::kFloat},     {"float64", at::kDouble}, {"float16", at::kHalf},
      {"bfloat16", at::kBFloat16}, {"int64", at::kLong},     {"int32", at::kInt},
      {"uint8", at::kByte}};
  const auto found = types.find(name);
  if (found == types.end())
    throw InputRejected(path, "tensors of type '" + name + "' are not known");
  return found->second;
}

// One part after the other of a file.
class Reader {
 public:
  Reader(const std::string& path, std::string_view bytes) : path_(path), rest_(bytes) {}
  bool at_end() const { return rest_.empty(); }

  std::string_view Line() {
    const size_t end = rest_.find('\n');
    if (end == std::string_view::npos) return Take(rest_.size());
    const std::string_view line = Take(end + 1);
    return line.substr(0, end);
  }

  // Nothing if fewer bytes are left.
  torch::Tensor Tensor(const Json& described) {
    const at::ScalarType type = TypeNamed(path_, described.at("dtype").get<std::string>());
    const auto shape = described.at("shape").get<std::vector<int64_t>>();
    int64_t count = 1;
    for (const int64_t extent : shape) {
      if (extent < 0 || (extent > 0 && count > kMostElements / extent)) {
        throw InputRejected(path_, "a tensor has a shape that cannot be");
      }
      count *= extent;
    }
    const size_t bytes = static_cast<size_t>(count) * c10::elementSize(type);
    if (rest_.size() < bytes) return {};
    torch::Tensor tensor = torch::empty(shape, type);
    if (bytes > 0) std::memcpy(tensor.data_ptr(), rest_.data(), bytes);
    Take(bytes);
    return tensor;
  }

 private:
  std::string_view Take(size_t count) {
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }

  std::string path_;
  std::string_view rest_;
};

struct Piece {
  int64_t step;
  Batch batch;
  double loss;
  double rate;  // not a number if it is not known
};

// Reads what is there; the rate is returned.
double TakeOptimizer(const Json& line, CapturedOptimizer& optimizer) {
  const Json group = line.value("optimizer", Json::object());
  const auto number = [&](const char* name, double& value) { value = group.value(name, value); };
  const auto flag = [&](const char* name, bool& value) { value = group.value(name, value); };
  optimizer.name = group.value("name", "");
  number("momentum", optimizer.momentum);
  number("eps", optimizer.epsilon);
  number("alpha", optimizer.alpha);
  number("weight_decay", optimizer.weight_decay);
  flag("nesterov", optimizer.nesterov);
  flag("centered", optimizer.centered);
  flag("amsgrad", optimizer.amsgrad);
  if (const auto betas = group.find("betas"); betas != group.end()) {
    optimizer.beta1 = betas->at(0).get<double>();
    optimizer.beta2 = betas->at(1).get<double>();
  }
  double rate = std::numeric_limits<double>::quiet_NaN();
  number("lr", rate);
  return rate;
}

void NeedTask(const std::string& path, const Capture& capture, const Batch& batch) {
  const bool are_alike = batch.y.dim() > 0 && batch.y.size(0) == batch.x.size(0);
  const bool has_one_each = are_alike && (capture.has_numbers || batch.y.dim() == 1);
  if (batch.x.is_floating_point() ? !has_one_each : !capture.has_tokens) {
    throw InputRejected(path,
                        "no reference takes these: expected one class, or numbers, for each sample "
                        "of numbers, or one class for each token");
  }
}

// What a model could not look up. A target of -100 does not count.
void NeedRange(const std::string& path, const Capture& capture, const Batch& batch) {
  const auto is_within = [&](const torch::Tensor& numbers) {
    return numbers.numel() == 0 ||
           (numbers.min().item<int64_t>() >= 0 && numbers.max().item<int64_t>() < capture.classes);
  };
  const bool has_tokens = !capture.has_tokens || is_within(batch.x);
  const bool has_classes =
      capture.has_numbers || is_within(batch.y.masked_select(batch.y.ne(-100)));
  if (capture.classes < 1 || !has_tokens || !has_classes) {
    throw InputRejected(path, "tokens or targets are out of the range of its " +
                                  std::to_string(capture.classes) + " classes");
  }
}

// Whole numbers of two dimensions with a target for each are tokens, however the targets are
// shaped.
Batch Shaped(const Batch& batch, Capture& capture) {
  capture.has_numbers = batch.y.is_floating_point();
  capture.has_tokens = !capture.has_numbers && !batch.x.is_floating_point() && batch.x.dim() == 2 &&
                       batch.y.numel() == batch.x.numel();
  if (capture.has_tokens) {
    return {batch.x.to(at::kLong), batch.y.reshape(batch.x.sizes()).to(at::kLong)};
  }
  const torch::Tensor x = batch.x.is_floating_point() ? batch.x.to(at::kFloat) : batch.x;
  if (!capture.has_numbers) return {x, batch.y.to(at::kLong)};
  return {x, batch.y.to(at::kFloat).reshape({batch.y.size(0), -1})};
}

// All samples of a step, and the mean of its losses. Sequences of tokens may be longer in one step
// than in another, as padding makes them.
void Join(const std::string& path, const std::vector<Piece>& pieces, Capture& capture) {
  InputShape shape = pieces.front().batch.x.sizes().slice(1).vec();
  for (size_t i = 0; i < pieces.size();) {
    std::vector<torch::Tensor> xs, ys;
    double sum = 0, samples = 0;
    const int64_t step = pieces[i].step;
    const InputShape own = pieces[i].batch.x.sizes().slice(1).vec();
    if (capture.has_tokens) shape.front() = std::max(shape.front(), own.front());
    if (!capture.has_tokens && own != shape)
      throw InputRejected(path, "samples have several shapes");
    for (; i < pieces.size() && pieces[i].step == step; ++i) {
      if (pieces[i].batch.x.sizes().slice(1) != at::IntArrayRef(own)) {
        throw InputRejected(path, "samples of one step have several shapes");
      }
      xs.push_back(pieces[i].batch.x);
      ys.push_back(pieces[i].batch.y);
      const auto count = static_cast<double>(pieces[i].batch.y.numel());
      sum += pieces[i].loss * count;
      samples += count;
    }
    capture.batches.push_back({torch::cat(xs), torch::cat(ys)});
    capture.losses.push_back(sum / samples);
    capture.optimizer.rates.push_back(pieces[i - 1].rate);
  }
  capture.sample_shape = shape;
}

// Notes in the capture what the piece says of all.
Piece PieceOf(const std::string& path, const Json& line, const Batch& read, bool is_first,
              Capture& capture) {
  const bool had_numbers = capture.has_numbers, had_tokens = capture.has_tokens;
  const Batch batch = Shaped(read, capture);
  const bool is_other = had_numbers != capture.has_numbers || had_tokens != capture.has_tokens;
  if (!is_first && is_other) throw InputRejected(path, "batches are of several kinds");
  NeedTask(path, capture, batch);
  // A model of tokens has one number of them: of inputs and of outputs.
  const bool has_some = capture.has_tokens && batch.x.numel() > 0;
  const int64_t tokens = has_some ? batch.x.max().item<int64_t>() + 1 : 0;
  capture.classes = std::max({capture.classes, line.at("classes").get<int64_t>(), tokens});
  NeedRange(path, capture, batch);
  capture.has_dropout = capture.has_dropout || line.at("dropout").get<double>() > 0;
  capture.has_class_weights |= line.at("class_weights").get<bool>();
  capture.has_further_terms |= line.at("further_terms").get<bool>();
  const Json& loss = line.at("loss");  // null for one that is not finite
  return {line.at("step").get<int64_t>(), batch,
          loss.is_null() ? std::numeric_limits<double>::quiet_NaN() : loss.get<double>(),
          TakeOptimizer(line, capture.optimizer)};
}

}  // namespace

bool IsCapture(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string head(kHead.size(), '\0');
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  return file && head == kHead;
}

Capture ReadCapture(const std::string& path) {
  const std::string bytes = ReadWhole(path);
  if (bytes.rfind(kHead, 0) != 0) throw InputRejected(path, "it is no capture of dlcheck run");
  Reader reader(path, std::string_view(bytes).substr(kHead.size()));
  Capture capture;
  std::vector<Piece> pieces;
  try {
    while (!reader.at_end()) {
      const Json line = Json::parse(reader.Line());
      if (line.contains("ended")) {
        capture.ended = line.at("ended").get<std::string>();
        continue;
      }
      if (line.contains("milliseconds")) {
        capture.milliseconds = line.at("milliseconds").get<double>();
        continue;
      }
      const torch::Tensor x = reader.Tensor(line.at("x")), y = reader.Tensor(line.at("y"));
      if (!x.defined() || !y.defined()) break;
      pieces.push_back(PieceOf(path, line, {x, y}, /*is_first=*/pieces.empty(), capture));
    }
  } catch (const Json::exception& error) {
    // A program that was killed leaves half a line.
    if (pieces.empty() || !reader.at_end()) throw InputRejected(path, error.what());
  }
  if (pieces.empty()) throw InputRejected(path, "it holds no batch");
  Join(path, pieces, capture);
  Standardize(capture);
  return capture;
}

}  // namespace dlcheck::reference
