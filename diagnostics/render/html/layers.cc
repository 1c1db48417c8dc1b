#include <algorithm>
#include <map>
#include <set>

#include "checks/engine/text.h"
#include "diagnostics/render/html/heat.h"
#include "diagnostics/render/html/sections.h"

namespace dlcheck::html {
namespace {

constexpr size_t kMostLayers = 500;
constexpr size_t kUnfolded = 40;  // with more parameters, they are folded by module

struct Layer {
  std::string name;
  bool in_finding = false;
  const Series* gradient = nullptr;
  const Series* update = nullptr;
  const Series* weight = nullptr;

  // Smaller is shown earlier: named in a finding, not finite, without a gradient, and the others.
  int Rank() const {
    if (in_finding) return 0;
    if (gradient == nullptr || gradient->nonfinite > 0) return 1;
    return gradient->last == 0 ? 2 : 3;
  }
};

std::vector<Layer> LayersOf(const Page& page) {
  std::set<std::string> named;
  for (const Cause& cause : page.causes) {
    for (const Finding& finding : cause.result->verdict.findings) {
      for (const Place& place : finding.places) named.insert(place.thing);
    }
  }
  std::vector<Layer> layers;
  std::map<std::string, size_t> places;
  for (const Series& series : page.series.series) {
    const Series* Layer::*field = series.quantity == "gradient_norm"  ? &Layer::gradient
                                  : series.quantity == "update_ratio" ? &Layer::update
                                  : series.quantity == "weight_norm"  ? &Layer::weight
                                                                      : nullptr;
    if (field == nullptr || series.rank != 0) continue;
    const auto [place, fresh] = places.try_emplace(series.thing, layers.size());
    if (fresh) layers.push_back({.name = series.thing, .in_finding = named.contains(series.thing)});
    layers[place->second].*field = &series;
  }
  std::ranges::stable_sort(layers, {}, &Layer::Rank);
  return layers;
}

std::string Last(const Series* series) {
  if (series == nullptr || series->samples == 0) return "–";
  return Short(series->last);
}

// One for each quantity, over all parameters.
struct Scales {
  HeatScale gradient, update, weight;
};

Scales ScalesOf(const std::vector<Layer>& layers) {
  Scales scales;
  for (const Layer& layer : layers) {
    if (layer.gradient != nullptr) scales.gradient.Take(*layer.gradient);
    if (layer.update != nullptr) scales.update.Take(*layer.update);
    if (layer.weight != nullptr) scales.weight.Take(*layer.weight);
  }
  return scales;
}

void AddNumber(Node row, const Series* series, const HeatScale& scale) {
  Node cell = Add(row, "td");
  AddHeat(cell, series, scale);
  AddText(cell, Last(series));
  if (series != nullptr && series->nonfinite > 0) Add(cell, "span", " non-finite", "whole");
}

std::string RangeOf(std::string_view what, const HeatScale& scale) {
  if (!(scale.high() > 0)) return "";
  return StrCat(" ", what, ": ", Short(scale.low()), " to ", Short(scale.high()), ".");
}

void AddLayer(Node table, const Layer& layer, const Scales& scales) {
  Node row = Add(table, "tr");
  Node heading = Add(row, "th");
  Set(heading, "scope", "row");
  AddName(heading, layer.name);
  if (layer.in_finding) AddText(heading, " (in a finding)");
  AddNumber(row, layer.gradient, scales.gradient);
  AddNumber(row, layer.update, scales.update);
  AddNumber(row, layer.weight, scales.weight);
}

Node AddTableOf(Node parent, std::string_view caption) {
  return AddTable(parent, caption,
                  {"Parameter", "Gradient norm", "Update / weight norm", "Weight norm"});
}

// The module at the root of the model that has it.
std::string ModuleOf(const std::string& name) { return name.substr(0, name.find('.')); }

}  // namespace

void AddLayers(Node main, const Page& page) {
  const std::vector<Layer> layers = LayersOf(page);
  if (layers.empty()) return;
  Node section = AddSection(main, "layers", "Layers");
  const Scales scales = ScalesOf(layers);
  Add(section, "p",
      StrCat("Each strip shows the run from left to right, and the number beside it the last step. "
             "A stronger color is larger, by the logarithm.",
             RangeOf("Gradient norms", scales.gradient), RangeOf("Updates", scales.update),
             RangeOf("Weight norms", scales.weight)));
  const size_t shown = std::min(layers.size(), kMostLayers);
  if (shown < layers.size()) {
    Add(section, "p",
        StrCat(layers.size() - shown, " of ", layers.size(),
               " parameters are left out; series.json has them."));
  }
  if (layers.size() <= kUnfolded) {
    Node table = AddTableOf(section, "Parameters, those of findings first");
    for (const Layer& layer : layers) AddLayer(table, layer, scales);
    return;
  }
  std::map<std::string, std::vector<const Layer*>> modules;
  std::vector<std::string> order;
  for (size_t i = 0; i < shown; ++i) {
    std::vector<const Layer*>& of_module = modules[ModuleOf(layers[i].name)];
    if (of_module.empty()) order.push_back(ModuleOf(layers[i].name));
    of_module.push_back(&layers[i]);
  }
  for (const std::string& module : order) {
    Node folded = Add(section, "details");
    Node summary = Add(folded, "summary");
    AddName(summary, module);
    AddText(summary,
            StrCat(" (", Counted(static_cast<int64_t>(modules[module].size()), "parameter"), ")"));
    Node table = AddTableOf(folded, StrCat("Parameters of ", Cut(module, kLongestName)));
    for (const Layer* layer : modules[module]) AddLayer(table, *layer, scales);
  }
}

}  // namespace dlcheck::html
