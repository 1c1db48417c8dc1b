#include "reference/checkpoint/tensor_file.h"

#include <cstring>
#include <nlohmann/json.hpp>

#include "reference/recipe/rejection.h"

namespace dlcheck::reference {
namespace {

using OrderedJson = nlohmann::ordered_json;

const std::vector<std::pair<std::string, torch::ScalarType>>& TypeNames() {
  static const std::vector<std::pair<std::string, torch::ScalarType>> names = {
      {"BOOL", torch::kBool},   {"U8", torch::kUInt8},      {"I32", torch::kInt32},
      {"I64", torch::kInt64},   {"BF16", torch::kBFloat16}, {"F16", torch::kHalf},
      {"F32", torch::kFloat32}, {"F64", torch::kFloat64},
  };
  return names;
}

std::string NameOf(torch::ScalarType type) {
  for (const auto& [name, known] : TypeNames()) {
    if (known == type) return name;
  }
  throw std::invalid_argument(std::string("no file holds elements of type ") + toString(type));
}

torch::ScalarType TypeOf(const std::string& path, const std::string& name) {
  for (const auto& [known, type] : TypeNames()) {
    if (known == name) return type;
  }
  throw InputRejected(path, "holds elements of the unknown type '" + name + "'");
}

// The header and where the elements begin.
std::pair<OrderedJson, size_t> HeaderOf(const std::string& path, std::string_view bytes) {
  uint64_t length = 0;
  if (bytes.size() < sizeof(length)) throw InputRejected(path, "is cut off in its first 8 bytes");
  std::memcpy(&length, bytes.data(), sizeof(length));
  if (length > bytes.size() - sizeof(length)) throw InputRejected(path, "is cut off in its header");
  OrderedJson header =
      OrderedJson::parse(bytes.substr(sizeof(length), length), nullptr, /*allow_exceptions=*/false);
  if (!header.is_object()) throw InputRejected(path, "has a header that is no JSON object");
  return {std::move(header), sizeof(length) + length};
}

torch::Tensor TensorOf(const std::string& path, const std::string& name, const OrderedJson& entry,
                       std::string_view elements) {
  const auto type = TypeOf(path, entry.at("dtype").get<std::string>());
  const auto shape = entry.at("shape").get<std::vector<int64_t>>();
  const auto offsets = entry.at("data_offsets").get<std::vector<uint64_t>>();
  uint64_t count = 1;
  for (const int64_t extent : shape) {
    if (extent < 0 || (extent > 0 && count > elements.size() / static_cast<uint64_t>(extent))) {
      throw InputRejected(path, "has an impossible shape for '" + name + "'");
    }
    count *= static_cast<uint64_t>(extent);
  }
  const bool fits =
      offsets.size() == 2 && offsets[0] <= offsets[1] && offsets[1] <= elements.size();
  if (!fits) throw InputRejected(path, "is cut off: '" + name + "' lies beyond its end");
  if (offsets[1] - offsets[0] != count * c10::elementSize(type)) {
    throw InputRejected(path, "has another number of bytes for '" + name + "' than its shape says");
  }
  torch::Tensor tensor = torch::empty(shape, type);
  if (count > 0) {
    std::memcpy(tensor.data_ptr(), elements.data() + offsets[0], offsets[1] - offsets[0]);
  }
  return tensor;
}

}  // namespace

std::string TensorFileBytes(const NamedTensors& tensors) {
  std::vector<torch::Tensor> copies;
  OrderedJson header = OrderedJson::object();
  uint64_t end = 0;
  for (const auto& [name, tensor] : tensors) {
    copies.push_back(tensor.detach().to(torch::kCPU).contiguous());
    const uint64_t begin = end;
    end += copies.back().nbytes();
    header[name] = {{"dtype", NameOf(tensor.scalar_type())},
                    {"shape", tensor.sizes().vec()},
                    {"data_offsets", {begin, end}}};
  }
  const std::string text = header.dump();
  const uint64_t length = text.size();
  std::string bytes(sizeof(length), '\0');
  std::memcpy(bytes.data(), &length, sizeof(length));
  bytes.reserve(bytes.size() + length + end);
  bytes += text;
  for (const torch::Tensor& copy : copies) {
    if (copy.numel() > 0) bytes.append(static_cast<const char*>(copy.data_ptr()), copy.nbytes());
  }
  return bytes;
}

std::map<std::string, torch::Tensor> TensorsOf(const std::string& path, std::string_view bytes) {
  const auto [header, begin] = HeaderOf(path, bytes);
  const std::string_view elements = bytes.substr(begin);
  std::map<std::string, torch::Tensor> tensors;
  try {
    for (const auto& [name, entry] : header.items()) {
      if (name == "__metadata__") continue;
      tensors[name] = TensorOf(path, name, entry, elements);
    }
  } catch (const OrderedJson::exception&) {
    throw InputRejected(path, "has a header with an entry that describes no tensor");
  }
  return tensors;
}

}  // namespace dlcheck::reference
