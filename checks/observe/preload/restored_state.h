// What a program keeps in files and takes back from them: which objects a file holds, which of them
// go on from one, and whether loaded weights are still there as training begins.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "checks/observe/probe/probe_recorder.h"

namespace dlcheck {

// The parameters of a module as it was loaded. Keeps none of them alive.
class LoadedModule {
 public:
  // `site` is the line that loads it. Cost: one pass over the parameters that lie in host memory.
  LoadedModule(const torch::nn::Module& module, const Probe::Site& site);

  // Tells of the model that has the most of these parameters, if one that is watched has any: which
  // share of its parameters they are, and of how many the values are others by now. Whether the
  // model is known.
  bool Write(ProbeRecorder& recorder, bool compares) const;

 private:
  struct Parameter {
    c10::weak_intrusive_ptr<at::TensorImpl> tensor;
    bool is_read;  // has a digest
    uint64_t digest;
  };
  std::vector<Parameter> parameters_;
  Probe::Site site_;
};

class RestoredState {
 public:
  // An object went into an archive, which goes into a file next. `kind`: "model", "optimizer".
  void Stored(const char* kind) { stored_.insert(kind); }
  void Saved(const std::string& path, const Probe::Site& site, ProbeRecorder& recorder);
  // A file was read; what takes its state comes after.
  void Read(const std::string& path, const Probe::Site& site, ProbeRecorder& recorder);
  bool looks_at_modules() const { return loads_ < kMostLoads; }
  void Took(LoadedModule module, ProbeRecorder& recorder);
  void Took(int optimizer, const Probe::Site& site, ProbeRecorder& recorder);
  // The first backward or step comes after what was loaded.
  void TrainingBegins(ProbeRecorder& recorder);

 private:
  static constexpr int kMostLoads = 256;  // of modules that are looked at

  void AddContents(const std::string& path, const std::set<std::string>& kinds,
                   ProbeRecorder& recorder);

  std::set<std::string> stored_;                           // kinds that no file was made of yet
  std::string read_;                                       // the last file
  std::map<std::string, std::set<std::string>> contents_;  // by file
  std::vector<LoadedModule> waiting_;
  int loads_ = 0;  // of modules
};

}  // namespace dlcheck
