#include "reference/checkpoint/manifest.h"

#include <nlohmann/json.hpp>
#include <set>

#include "reference/checkpoint/durable_file.h"
#include "reference/checkpoint/sha256.h"
#include "reference/recipe/rejection.h"

namespace dlcheck::reference {
namespace {

using Json = nlohmann::json;

constexpr char kFormat[] = "dlcheck checkpoint 1";

// Keys that change nothing of what a step does, or, as the path of the data, are told apart
// otherwise.
const std::set<std::string>& FreeKeys() {
  static const std::set<std::string> keys = {"data",
                                             "steps",
                                             "horizon",
                                             "prefetch-threads",
                                             "stop-after",
                                             "init-from",
                                             "export",
                                             "checkpoints",
                                             "report-memory",
                                             "checkpoint-every",
                                             "keep-last",
                                             "keep-best",
                                             "resume",
                                             "select-window",
                                             "save",
                                             "log",
                                             "log-every",
                                             "fault",
                                             "rendezvous-timeout",
                                             "heartbeat-timeout",
                                             "collective-timeout"};
  return keys;
}

std::string DigestOf(Json json) {
  json.erase("sha256");
  return Sha256(json.dump());
}

Manifest Parsed(const Json& json) {
  Manifest manifest;
  manifest.step = json.at("step").get<int64_t>();
  manifest.micro = json.at("micro").get<int64_t>();
  manifest.recipe = json.at("recipe").get<std::map<std::string, std::string>>();
  for (const auto& [name, file] : json.at("files").items()) {
    manifest.files[name] = {file.at("bytes").get<uint64_t>(), file.at("sha256").get<std::string>()};
  }
  return manifest;
}

}  // namespace

std::map<std::string, std::string> DecidingKeys(const Recipe& recipe) {
  Recipe used = recipe;
  // Whether they were said or not.
  used.lr = LearningRate(recipe);
  used.momentum = Momentum(recipe);
  used.beta2 = Beta2(recipe);
  used.epsilon = Epsilon(recipe);
  std::map<std::string, std::string> keys;
  for (const Key& key : Keys()) {
    if (FreeKeys().count(key.name) == 0) keys[key.name] = Spelled(used, key);
  }
  if (EndsAtHorizon(recipe)) {
    keys["horizon"] = std::to_string(recipe.horizon == 0 ? recipe.steps : recipe.horizon);
  }
  return keys;
}

std::string ManifestText(const Manifest& manifest) {
  Json json = {{"format", kFormat},
               {"step", manifest.step},
               {"micro", manifest.micro},
               {"recipe", manifest.recipe},
               {"files", Json::object()}};
  for (const auto& [name, file] : manifest.files) {
    json["files"][name] = {{"bytes", file.bytes}, {"sha256", file.sha256}};
  }
  json["sha256"] = DigestOf(json);
  return json.dump(2) + "\n";
}

Manifest ReadManifest(const std::string& path) {
  const Json json = Json::parse(ReadWhole(path), nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) throw InputRejected(path, "is no JSON object, or is cut off");
  if (json.value("format", Json()) != kFormat) {
    throw InputRejected(path, std::string("is not of format '") + kFormat + "'");
  }
  if (json.value("sha256", Json()) != DigestOf(json)) {
    throw InputRejected(path, "was changed since it was written: its digest does not fit");
  }
  try {
    return Parsed(json);
  } catch (const Json::exception&) {
    throw InputRejected(path, "lacks a field, or has one of another type");
  }
}

void RefuseOtherRecipe(const std::string& path, const Manifest& manifest,
                       const std::map<std::string, std::string>& wanted) {
  for (const auto& [name, value] : wanted) {
    const auto found = manifest.recipe.find(name);
    const std::string saved = found == manifest.recipe.end() ? "" : found->second;
    if (saved != value) {
      throw InputRejected(path, "is of another recipe: " + name + " was '" + saved + "' and is '" +
                                    value + "' now");
    }
  }
}

}  // namespace dlcheck::reference
