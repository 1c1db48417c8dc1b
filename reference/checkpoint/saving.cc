#include "reference/checkpoint/saving.h"

#include <filesystem>

namespace dlcheck::reference {

void SaveState(const std::string& path, const Model& model, const Optimizer& optimizer,
               int64_t steps) {
  torch::serialize::OutputArchive archive, model_archive, optimizer_archive;
  model.module->save(model_archive);
  optimizer.Save(optimizer_archive);
  archive.write("model", model_archive);
  archive.write("optimizer", optimizer_archive);
  archive.write("random_state", at::detail::getDefaultCPUGenerator().get_state(),
                /*is_buffer=*/true);
  archive.write("steps", torch::tensor(steps), /*is_buffer=*/true);
  const std::string unfinished = path + ".unfinished";
  archive.save_to(unfinished);
  std::filesystem::rename(unfinished, path);
}

}  // namespace dlcheck::reference
