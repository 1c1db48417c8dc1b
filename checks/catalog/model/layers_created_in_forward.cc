#include "checks/catalog/examples/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/model/built_layers.h"

namespace dlcheck::model {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&, const BuiltLayers& built) {
  Verdict verdict{.findings = {}, .judged = Counted(built.forwards, "module call")};
  for (const BuiltLayers::Class& one : built.classes) {
    std::vector<Place> places = {{.thing = one.name, .file = ""}};
    if (one.site.line > 0) {
      places.push_back({.thing = "", .file = one.site.file, .line = one.site.line});
    }
    verdict.findings.push_back(
        {.severity = one.matters ? Severity::kWarning : Severity::kNote,
         .message =
             StrCat("The model created ", one.layers, " layers of class ", one.name,
                    " in forward(), each for one call: ",
                    one.matters ? "every call initializes them again, and no optimizer trains them."
                                : "their parameters keep their initial values."),
         .places = std::move(places),
         .first_step = one.step,
         .last_step = one.step,
         .count = one.layers,
         .measured = static_cast<double>(one.layers),
         .bound = 0});
  }
  return verdict;
}

Evidence Built(bool matters, bool told = true) {
  RunBuilder run = TwoLayers();
  for (int step = 0; step < 8; ++step) AddStep(run, {.held = {}});
  if (told) run.Quantity(Quantity::kBuiltAnew, "class", "Linear", 8, matters ? 1 : 0);
  return PlainOnly(run);
}

}  // namespace

Check LayersCreatedInForward() {
  return {
      .id = "model/layers_created_in_forward",
      .title = "forward() creates new layers",
      .promise = "A model creates its layers once.",
      .why =
          "A layer created in forward() has new random weights at every call. No optimizer trains "
          "it and no checkpoint saves it. A normalization layer created there has no statistics "
          "for evaluation and is always in training mode.",
      .method =
          "Looks at modules that run inside a model in training but are not submodules of the "
          "model. Reports several modules of one class with parameters if each is gone when the "
          "next one runs.",
      .fix =
          "Create the layer in __init__, keep it as an attribute, and call this attribute in "
          "forward().",
      .limits = {.needs =
                     "A training forward with layers that run inside another module's forward.",
                 .silent_when = "",
                 .severity = "Warning. Note if neither random weights nor statistics are lost, as "
                             "with a layer norm.",
                 .blind_spots =
                     "Random projections that are new at every call on purpose look the same.",
                 .sensitivity = ""},
      .python = {.bad = R"(class Head(nn.Module):
    def forward(self, x):
        layer = nn.Linear(64, 10)  # new random weights at every call
        return layer(x))",
                 .good = R"(class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(64, 10)

    def forward(self, x):
        return self.layer(x))"},
      .cpp = {.bad = R"(torch::Tensor forward(torch::Tensor x) {
  nn::Linear layer(64, 10);  // new random weights at every call
  return layer(x);
})",
              .good = R"(struct HeadImpl : nn::Module {
  HeadImpl() { register_module("layer", layer); }
  torch::Tensor forward(torch::Tensor x) { return layer(x); }
  nn::Linear layer{64, 10};
};)"},
      .sources = {"PyTorch documentation of torch.nn.Module", "own reasoning"},
      .covers = {"detached-path"},
      .explains = {"learnability/cannot_overfit_one_batch", "gradients/missing"},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = std::nullopt,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"no layer created in forward()", Expect::kClean,
                    [] { return Built(true, false); }},
                   {"a normalization layer without statistics", Expect::kNote,
                    [] { return Built(false); }},
                   {"a layer with random weights", Expect::kWarning, [] { return Built(true); }}},
  };
}

}  // namespace dlcheck::model
