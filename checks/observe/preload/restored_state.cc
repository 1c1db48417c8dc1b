#include "checks/observe/preload/restored_state.h"

#include <algorithm>
#include <utility>

#include "checks/observe/probe/tensor_summary.h"

namespace dlcheck {
namespace {

constexpr size_t kMostFiles = 1024;                     // whose contents are told
constexpr size_t kMostLoadedModules = 64;               // that wait for training to begin
constexpr int64_t kMostBytesLoaded = int64_t{1} << 32;  // of a module

uint32_t SiteIn(ProbeRecorder& recorder, const Probe::Site& site) {
  return recorder.clock().writer().Site(site.file, site.line, site.function);
}

}  // namespace

LoadedModule::LoadedModule(const torch::nn::Module& module, const Probe::Site& site) : site_(site) {
  int64_t bytes = 0;
  for (const at::Tensor& tensor : module.parameters()) {
    bytes += static_cast<int64_t>(tensor.nbytes());
    const bool is_read =
        tensor.device().is_cpu() && tensor.layout() == at::kStrided && bytes < kMostBytesLoaded;
    parameters_.push_back({c10::weak_intrusive_ptr<at::TensorImpl>(tensor.getIntrusivePtr()),
                           is_read, is_read ? DigestTensors({tensor}) : 0});
  }
}

bool LoadedModule::Write(ProbeRecorder& recorder, bool compares) const {
  std::map<int, int64_t> of_model;
  int64_t compared = 0, changed = 0;
  for (const Parameter& parameter : parameters_) {
    c10::intrusive_ptr<at::TensorImpl> alive = parameter.tensor.lock();
    if (!alive) continue;
    const at::Tensor tensor(std::move(alive));
    const ProbeModels::Parameter* known = recorder.models().Find(tensor);
    if (known == nullptr || known->model == ProbeModels::kNoModel) continue;
    ++of_model[known->model];
    if (!compares || !parameter.is_read || !tensor.device().is_cpu()) continue;
    ++compared;
    if (DigestTensors({tensor}) != parameter.digest) ++changed;
  }
  if (of_model.empty()) return false;
  const auto most = std::max_element(of_model.begin(), of_model.end(),
                                     [](auto& a, auto& b) { return a.second < b.second; });
  const uint32_t model = recorder.models().model_thing(most->first);
  const auto all = static_cast<double>(recorder.models().tree(most->first).parameters.size());
  recorder.clock().Put(Quantity::kLoadedShare, {model}, static_cast<double>(most->second) / all);
  recorder.clock().PutSeldom(Event::kLoaded, {model, 0, SiteIn(recorder, site_)});
  if (compared > 0) {
    recorder.clock().Put(Quantity::kOverwrittenShare, {model},
                         static_cast<double>(changed) / static_cast<double>(compared),
                         static_cast<double>(compared));
  }
  return true;
}

void RestoredState::AddContents(const std::string& path, const std::set<std::string>& kinds,
                                ProbeRecorder& recorder) {
  if (contents_.size() >= kMostFiles && contents_.count(path) == 0) return;
  std::set<std::string>& known = contents_[path];
  const size_t before = known.size();
  known.insert(kinds.begin(), kinds.end());
  if (known.size() == before) return;
  std::string words;
  for (const std::string& kind : known) words += (words.empty() ? "" : " ") + kind;
  TraceWriter& writer = recorder.clock().writer();
  writer.Attribute(writer.Thing("file", 0, path), "contents", words);
}

void RestoredState::Saved(const std::string& path, const Probe::Site& site,
                          ProbeRecorder& recorder) {
  AddContents(path, std::exchange(stored_, {}), recorder);
  recorder.PutFileEvent(Event::kSaved, path, site);
}

void RestoredState::Read(const std::string& path, const Probe::Site& site,
                         ProbeRecorder& recorder) {
  read_ = path;
  recorder.PutFileEvent(Event::kLoaded, path, site);
}

void RestoredState::Took(LoadedModule module, ProbeRecorder& recorder) {
  if (!read_.empty()) AddContents(read_, {"model"}, recorder);
  if (++loads_ <= kMostLoads && waiting_.size() < kMostLoadedModules) {
    waiting_.push_back(std::move(module));
  }
}

void RestoredState::Took(int optimizer, const Probe::Site& site, ProbeRecorder& recorder) {
  if (!read_.empty()) AddContents(read_, {"optimizer"}, recorder);
  recorder.clock().PutSeldom(Event::kLoaded,
                             {recorder.Optimizer(optimizer).thing(), 0, SiteIn(recorder, site)});
}

void RestoredState::TrainingBegins(ProbeRecorder& recorder) {
  if (waiting_.empty()) return;
  const bool is_first = recorder.clock().step() == 0;
  // A model that is not known yet may be by the next step.
  std::vector<LoadedModule> unknown;
  for (LoadedModule& module : std::exchange(waiting_, {})) {
    if (!module.Write(recorder, is_first) && is_first) unknown.push_back(std::move(module));
  }
  waiting_ = std::move(unknown);
}

}  // namespace dlcheck
