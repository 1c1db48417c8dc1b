#include <algorithm>
#include <map>
#include <set>

#include "checks/engine/text.h"
#include "diagnostics/render/html/sections.h"
#include "diagnostics/series/sparkline.h"

namespace dlcheck::html {
namespace {

constexpr size_t kMostLayers = 500;
constexpr size_t kUnfolded = 40;  // with more parameters, they are folded by module
constexpr size_t kCells = 24;

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

void AddLayer(Node table, const Layer& layer) {
  Node row = Add(table, "tr");
  Node heading = Add(row, "th");
  Set(heading, "scope", "row");
  AddName(heading, layer.name);
  if (layer.in_finding) AddText(heading, " (in a finding)");
  Add(row, "td", Last(layer.gradient));
  Node curve = Add(row, "td");
  if (layer.gradient != nullptr && layer.gradient->samples > 0) {
    Node line = Add(curve, "span", Sparkline(*layer.gradient, kCells), "name");
    Set(line, "role", "img");
    Set(line, "aria-label",
        StrCat("from ", Short(layer.gradient->first), " to ", Short(layer.gradient->last)));
  }
  if (layer.gradient != nullptr && layer.gradient->nonfinite > 0)
    Add(curve, "span", " non-finite", "whole");
  Add(row, "td", Last(layer.update));
  Add(row, "td", Last(layer.weight));
}

Node AddTableOf(Node parent, std::string_view caption) {
  return AddTable(parent, caption,
                  {"Parameter", "Gradient norm, last", "Gradient norm over the run",
                   "Update / weight norm, last", "Weight norm, last"});
}

// The module at the root of the model that has it.
std::string ModuleOf(const std::string& name) { return name.substr(0, name.find('.')); }

}  // namespace

void AddLayers(Node main, const Page& page) {
  const std::vector<Layer> layers = LayersOf(page);
  if (layers.empty()) return;
  Node section = AddSection(main, "layers", "Layers");
  const size_t shown = std::min(layers.size(), kMostLayers);
  if (shown < layers.size()) {
    Add(section, "p",
        StrCat(layers.size() - shown, " of ", layers.size(),
               " parameters are left out; series.json has them."));
  }
  if (layers.size() <= kUnfolded) {
    Node table = AddTableOf(section, "Parameters, those of findings first");
    for (const Layer& layer : layers) AddLayer(table, layer);
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
    for (const Layer* layer : modules[module]) AddLayer(table, *layer);
  }
}

}  // namespace dlcheck::html
