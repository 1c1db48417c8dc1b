// Operations under autocast: of each the result, whose type is what autocast chose. The same names
// stand in autocast_golden.py.
#include "reference/precision/autocast.h"
#include "tests/pytorch_parity/subject/subject.h"

namespace dlcheck::reference {
namespace {

using torch::Tensor;
using Operation = std::function<Tensor()>;

struct AutocastInputs {
  explicit AutocastInputs(const Case& run)
      : a(run.Input("a")),
        b(run.Input("b")),
        v(run.Input("v")),
        batch(run.Input("batch")),
        image(run.Input("image")),
        kernel(run.Input("kernel")),
        sequence(run.Input("sequence")),
        kernel1(run.Input("kernel1")),
        volume(run.Input("volume")),
        kernel3(run.Input("kernel3")),
        unit(run.Input("unit")),
        target(run.Input("target")) {}
  // What autocast made of a product: an input in low precision.
  Tensor Low() const { return torch::mm(a, b); }
  Tensor a, b, v, batch, image, kernel, sequence, kernel1, volume, kernel3, unit, target;
};

using Table = std::map<std::string, Operation>;

void AddProducts(Table& table, const AutocastInputs& in) {
  table["mm"] = [&] { return torch::mm(in.a, in.b); };
  table["matmul"] = [&] { return torch::matmul(in.batch, in.b); };
  table["bmm"] = [&] { return torch::bmm(in.batch, in.batch); };
  table["mv"] = [&] { return torch::mv(in.a, in.v); };
  table["dot"] = [&] { return torch::dot(in.v, in.v); };
  table["addmm"] = [&] { return torch::addmm(in.a, in.a, in.b); };
  table["addmv"] = [&] { return torch::addmv(in.v, in.a, in.v); };
  table["addbmm"] = [&] { return torch::addbmm(in.a, in.batch, in.batch); };
  table["baddbmm"] = [&] { return torch::baddbmm(in.batch, in.batch, in.batch); };
  table["linear"] = [&] { return torch::linear(in.a, in.b, in.v); };
  table["einsum"] = [&] { return torch::einsum("ij,bjk->bik", {in.a, in.batch}); };
  table["multi_dot"] = [&] { return at::linalg_multi_dot({in.a, in.b, in.a}); };
  table["attention"] = [&] {
    const Tensor q = in.batch.unsqueeze(0);
    return at::scaled_dot_product_attention(q, q, q);
  };
  table["conv1d"] = [&] { return torch::conv1d(in.sequence, in.kernel1); };
  table["conv2d"] = [&] { return torch::conv2d(in.image, in.kernel); };
  table["conv3d"] = [&] { return torch::conv3d(in.volume, in.kernel3); };
  table["conv_transpose2d"] = [&] {
    return at::conv_transpose2d(in.image, in.kernel.transpose(0, 1).contiguous());
  };
}

void AddReductions(Table& table, const AutocastInputs& in) {
  table["sum"] = [&] { return in.Low().sum(); };
  table["mean"] = [&] { return in.Low().mean(1); };
  table["prod"] = [&] { return in.Low().prod(1); };
  table["cumsum"] = [&] { return in.Low().cumsum(1); };
  table["norm"] = [&] { return in.Low().norm(); };
  table["vector_norm"] = [&] { return at::linalg_vector_norm(in.Low(), 2); };
  table["var"] = [&] { return in.Low().var(); };
  table["logsumexp"] = [&] { return in.Low().logsumexp(1); };
  table["amax"] = [&] { return in.Low().amax(1); };
  table["softmax"] = [&] { return in.Low().softmax(1); };
  table["log_softmax"] = [&] { return in.Low().log_softmax(1); };
  table["layer_norm"] = [&] { return torch::layer_norm(in.Low(), {8}, in.v, in.v); };
  table["layer_norm_plain"] = [&] { return torch::layer_norm(in.Low(), {8}); };
  table["rms_norm"] = [&] { return at::rms_norm(in.Low(), {8}); };
  table["group_norm"] = [&] { return torch::group_norm(in.image, 3); };
  table["batch_norm"] = [&] {
    return torch::batch_norm(in.Low(), in.v, in.v, torch::zeros({8}), torch::ones({8}), true, 0.1,
                             1e-5, false);
  };
  table["cosine_similarity"] = [&] { return torch::cosine_similarity(in.Low(), in.b); };
  table["cdist"] = [&] { return torch::cdist(in.a, in.b); };
}

void AddElementwise(Table& table, const AutocastInputs& in) {
  table["relu"] = [&] { return in.Low().relu(); };
  table["gelu"] = [&] { return at::gelu(in.Low()); };
  table["silu"] = [&] { return at::silu(in.Low()); };
  table["tanh"] = [&] { return in.Low().tanh(); };
  table["sigmoid"] = [&] { return in.Low().sigmoid(); };
  table["softplus"] = [&] { return at::softplus(in.Low()); };
  table["leaky_relu"] = [&] { return at::leaky_relu(in.Low()); };
  table["exp"] = [&] { return in.Low().exp(); };
  table["log"] = [&] { return torch::mm(in.unit, in.unit).log(); };
  table["sqrt"] = [&] { return torch::mm(in.unit, in.unit).sqrt(); };
  table["rsqrt"] = [&] { return torch::mm(in.unit, in.unit).rsqrt(); };
  table["pow"] = [&] { return in.Low().pow(2); };
  table["erf"] = [&] { return in.Low().erf(); };
  table["clamp"] = [&] { return in.Low().clamp(-1, 1); };
  table["add_wide"] = [&] { return in.Low() + in.a; };
  table["mul_narrow"] = [&] { return in.Low() * in.Low(); };
  table["addcmul"] = [&] { return torch::addcmul(in.a, in.b, in.b); };
  table["lerp"] = [&] { return torch::lerp(in.a, in.b, 0.3); };
  table["where"] = [&] { return torch::where(in.a > 0, in.Low(), in.a); };
  table["cat"] = [&] { return torch::cat({in.Low(), in.a}); };
  table["stack"] = [&] { return torch::stack({in.Low(), in.a}); };
  table["index_select"] = [&] { return in.Low().index_select(0, in.target); };
  table["embedding"] = [&] { return torch::embedding(in.a, in.target); };
}

void AddLossesAndPools(Table& table, const AutocastInputs& in) {
  table["cross_entropy"] = [&] { return torch::cross_entropy_loss(in.Low(), in.target); };
  table["nll_loss"] = [&] { return torch::nll_loss(in.Low().log_softmax(1), in.target); };
  table["mse_loss"] = [&] { return torch::mse_loss(in.Low(), in.b); };
  table["l1_loss"] = [&] { return torch::l1_loss(in.Low(), in.b); };
  table["smooth_l1_loss"] = [&] { return torch::smooth_l1_loss(in.Low(), in.b); };
  table["huber_loss"] = [&] { return torch::huber_loss(in.Low(), in.b); };
  table["kl_div"] = [&] { return torch::kl_div(in.Low(), in.unit, at::Reduction::Sum); };
  table["bce_with_logits"] = [&] {
    return torch::binary_cross_entropy_with_logits(in.Low(), in.unit);
  };
  table["avg_pool2d"] = [&] { return torch::avg_pool2d(in.image, 2); };
  table["max_pool2d"] = [&] { return torch::max_pool2d(in.image, 2); };
  table["adaptive_avg_pool2d"] = [&] { return at::adaptive_avg_pool2d(in.image, {2, 2}); };
  table["nearest"] = [&] { return at::upsample_nearest2d(in.image, {16, 16}); };
  table["bilinear"] = [&] { return at::upsample_bilinear2d(in.image, {16, 16}, false); };
}

}  // namespace

// Parameter: `type` of autocast. Puts out the result of each operation under its name.
void AutocastTable(Case& run) {
  const AutocastInputs in(run);
  Table table;
  AddProducts(table, in);
  AddReductions(table, in);
  AddElementwise(table, in);
  AddLossesAndPools(table, in);
  const auto type = run.Named<at::ScalarType>(
      "type", {{"bfloat16", at::kBFloat16}, {"float16", at::kHalf}, {"float32", at::kFloat}});
  const AutocastGuard autocast(at::kCPU, type);
  for (const auto& [name, operation] : table) run.Put(name, operation());
}

}  // namespace dlcheck::reference
