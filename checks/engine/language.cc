#include "checks/engine/language.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace dlcheck {
namespace {

struct Term {
  std::string_view python, cpp;
};

// What is more than another way to write the same call. Longer terms come first where one holds
// another.
constexpr Term kTerms[] = {
    {"optimizer.param_groups", "optimizer.param_groups()"},
    {"copy.deepcopy(model.state_dict())", "a clone() of each parameter and buffer"},
    {"optimizer.load_state_dict(checkpoint['optimizer'])", "torch::load(optimizer, path)"},
    {"DataLoader(drop_last=True)", "DataLoaderOptions().drop_last(true)"},
    {"for group in optimizer.param_groups(): group['lr'] = lr",
     "for (auto& group : optimizer.param_groups()) group.options().set_lr(lr)"},
    {"p.mul_(1 - group['lr'] * decay)", "p.mul_(1 - options.lr() * decay)"},
    {"group['lr']", "group.options().get_lr()"},
    {"write for batch in loader instead of next(iter(loader))",
     "write for (auto& batch : *loader) instead of *loader->begin()"},
    {"nn.ModuleList([Block() for _ in range(n)])", "call push_back(Block()) n times"},
    {"self.register_buffer", "register_buffer"},
    {"self.training", "is_training()"},
    {"F.dropout(x, p, training=", "torch::dropout(x, p, "},
    {"training=is_training() to F.dropout", "is_training() to torch::dropout"},
    {"The default of F.dropout is training=True.", ""},
    // What LibTorch has under another name, or not at all.
    {"run it inside torch.random.fork_rng()",
     "restore the state of the default generator after it"},
    {"a separate torch.Generator or torch.random.fork_rng()", "a separate torch::Generator"},
    {"torch.autograd.gradcheck shows", "A difference quotient in float64 shows"},
    {"torch.autograd.gradcheck", "a difference quotient"},
    {"torch.set_float32_matmul_precision()", "at::globalContext().setFloat32MatmulPrecision()"},
    {"torch.use_deterministic_algorithms(True)",
     "at::globalContext().setDeterministicAlgorithms(true, false)"},
    {"torch.cuda.empty_cache()", "the call that empties the allocator's cache"},
    {", torch.compile or CUDA graphs", ", or CUDA graphs"},
    {"torch.profiler", "torch::autograd::profiler::RecordProfile"},
    {"inside torch.autocast(device_type, dtype=...)",
     "under at::autocast::set_autocast_enabled(device, true)"},
    {"torch.autocast", "at::autocast::set_autocast_enabled(device, true)"},
    {"Use torch.amp.GradScaler with enabled=True, or train in bfloat16, which needs no scaler.",
     "Multiply the loss by a scale and divide the gradients by it, or train in bfloat16, which "
     "needs no scale."},
    {"use torch.distributed.checkpoint.save, or save every", "save every"},
    {"derive the seed from torch.initial_seed(), which", "derive the seed from one that"},
    {"torch.finfo(scores.dtype).min", "std::numeric_limits<float>::lowest()"},
    {"-torch.inf)", "-INFINITY)"},
    {"logits.float()", "logits.to(torch::kFloat)"},
    {"layer.float()", "layer->to(torch::kFloat)"},
    {"model.half()", "model->to(torch::kHalf)"},
    {"is_causal=True", "/*is_causal=*/true to scaled_dot_product_attention"},
    {"pass blank=", "set blank()"},
    {"log_target=True", "log_target(true)"},
    {"mu**2", "mu.square()"},
    {"a conversion to NumPy", "data_ptr()"},
    {".detach(), .data", ".detach(), .data()"},
    {"detach(), .data or", "detach(), .data() or"},
    {"build it by copy.deepcopy(model)", "build it anew and copy the weights"},
    {", or copy.deepcopy(model)", ""},
    {"torch.tensor([0, users])", "torch::tensor({0, users})"},
    {"teacher(x)[:, order]", "teacher(x).index_select(1, order)"},
    {"torch.cat([a, b])", "torch::cat({a, b})"},
    {"torch.inference_mode()", "c10::InferenceMode"},
    {"torch.no_grad()", "torch::NoGradGuard"},
    {"no_grad()", "torch::NoGradGuard"},
    {"torch.autograd.set_detect_anomaly(True)", "torch::autograd::DetectAnomalyGuard"},
    {"detect_anomaly()", "torch::autograd::DetectAnomalyGuard"},
    {"torch.Generator", "torch::Generator"},
    {"shuffle=True to the DataLoader", "a RandomSampler to make_data_loader()"},
    {"drop_last=True", "drop_last(true)"},
    {"batch_first=True", "batch_first(true)"},
    {"bias=False", "bias(false)"},
    {"weight_decay=0", "weight_decay(0)"},
    {"reduction='mean'", "reduction(torch::kMean)"},
    {"reduction='sum'", "reduction(torch::kSum)"},
    {"softmax(dim=-1)", "softmax(-1)"},
    {"state_dict()", "named_parameters()"},
    {"loss.item()", "loss.item<double>()"},
    {"item()", "item<double>()"},
    {"parameter.grad = None", "parameter.mutable_grad().reset()"},
    {"q.shape[-1] ** 0.5", "std::sqrt(q.size(-1))"},
    {"q @ k.transpose(-2, -1)", "q.matmul(k.transpose(-2, -1))"},
    {"=True", "=true"},
    {"(True)", "(true)"},
    {"=False", "=false"},
    {"(False)", "(false)"},
    {"float(\"-inf\")", "-std::numeric_limits<float>::infinity()"},
};

// Names of modules in the texts: their holders are pointers.
constexpr std::array<std::string_view, 8> kHolders = {"model", "teacher",   "layer",   "head",
                                                      "net",   "embedding", "encoder", "sampler"};

std::string Replaced(std::string text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

bool IsNamePart(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// "torch.nn.utils.clip_grad_norm_" with "::"; "model.eval" with "->".
std::string DottedInCpp(std::string_view name) {
  const size_t dot = name.find('.');
  if (dot == std::string_view::npos) return std::string(name);
  const std::string_view first = name.substr(0, dot);
  if (first == "torch" || first == "nn" || first == "F") {
    const std::string rest = Replaced(std::string(name.substr(dot + 1)), ".", "::");
    return (first == "nn"  ? "torch::nn::"
            : first == "F" ? "torch::nn::functional::"
                           : "torch::") +
           rest;
  }
  if (std::ranges::count(kHolders, first) > 0) {
    return std::string(first) + "->" + std::string(name.substr(dot + 1));
  }
  return std::string(name);
}

}  // namespace

Language LanguageOf(const Trace& trace) {
  return trace.ProcessAttribute("writer") == "c++" ? Language::kCpp : Language::kPython;
}

std::string InCppTerms(std::string_view text) {
  std::string with_terms(text);
  for (const Term& term : kTerms) {
    with_terms = Replaced(std::move(with_terms), term.python, term.cpp);
  }
  std::string result;
  for (size_t at = 0; at < with_terms.size();) {
    size_t end = at;
    while (end < with_terms.size() &&
           (IsNamePart(with_terms[end]) ||
            (with_terms[end] == '.' && end > at && end + 1 < with_terms.size() &&
             IsNamePart(with_terms[end + 1])))) {
      ++end;
    }
    if (end == at) {
      result += with_terms[at++];
      continue;
    }
    result += DottedInCpp(std::string_view(with_terms).substr(at, end - at));
    at = end;
  }
  return result;
}

std::string FixIn(const Check& check, Language language) {
  return language == Language::kCpp ? InCppTerms(check.fix) : std::string(check.fix);
}

}  // namespace dlcheck
