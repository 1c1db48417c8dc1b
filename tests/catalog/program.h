// A program, written call by call as the Python probe records it.
#pragma once

#include <string>

#include "checks/engine/run_builder.h"
#include "checks/engine/text.h"

namespace dlcheck {

class Program {
 public:
  // A model with one layer, "layer", whose weight is in an optimizer of the same ordinal.
  Program& Model(int ordinal, std::string_view type = "SGD") {
    const std::string group = StrCat("optimizer#", ordinal, "/group#0");
    run_.Ordinal(ordinal).Parameter("layer.weight");
    run_.Attribute("parameter", "layer.weight", "optimizer", group);
    run_.Attribute("parameter", "layer.weight", "shape", "8x8");
    run_.Attribute("parameter", "layer.weight", "elements", "64");
    run_.Attribute("parameter", "layer.weight", "dtype", "float32");
    run_.Attribute("optimizer", "", "type", type);
    run_.Attribute("optimizer", "", "stateful", "1");
    run_.Attribute("optimizer", "", "parameters", "1");
    run_.Attribute("optimizer", "", "first_parameter", "layer.weight");
    run_.Ordinal(0);
    return *this;
  }
  Program& Clear(int ordinal) { return At(ordinal, Event::kCleared, "optimizer", ""); }
  Program& Forward(int ordinal, double mode = 1) {
    return At(ordinal, Event::kForward, "module", "layer", mode);
  }
  Program& Backward(std::string_view loss = "cross_entropy", double share = 1,
                    double targets = 32) {
    run_.Quantity(Quantity::kLoss, "loss", loss, 2.0, 32);
    run_.Quantity(Quantity::kLossShare, "loss", loss, share, targets);
    run_.Event(Event::kBackward, 0, "loss", loss);
    return *this;
  }
  Program& Step(int ordinal, double gradient = 0.1) {
    const std::string group = StrCat("optimizer#", ordinal, "/group#0");
    run_.Ordinal(ordinal).Owner("optimizer", "");
    run_.Quantity(Quantity::kGradientNorm, "parameter", "layer.weight", gradient);
    run_.Quantity(Quantity::kWeightNorm, "parameter", "layer.weight", 3);
    run_.Quantity(Quantity::kUpdateNorm, "parameter", "layer.weight", 0.001);
    run_.Quantity(Quantity::kLearningRate, "group", group, rate_);
    return At(ordinal, Event::kStep, "optimizer", "");
  }
  // A forward without gradients, which changes the model if it is in training mode.
  Program& Watch(int ordinal, double mode, double enabled = 0, int batches = 1, bool loss = false) {
    At(ordinal, Event::kEvaluationBegan, "model", "Net").Digest(ordinal);
    for (int i = 0; i < batches; ++i) {
      At(ordinal, Event::kEvaluationForward, "model", "Net", mode, enabled);
    }
    if (mode != 0) ++digest_;
    if (loss) At(0, Event::kEvaluated, "loss", "cross_entropy", 2, 32);
    return Digest(ordinal).At(ordinal, Event::kEvaluationEnded, "model", "Net");
  }
  Program& At(int ordinal, Event event, std::string_view kind, std::string_view name,
              double value = 0, double aux = 0) {
    run_.Ordinal(ordinal).Event(event, value, kind, name, aux).Ordinal(0).Owner("");
    return *this;
  }
  Program& Rate(double rate) {
    rate_ = rate;
    return *this;
  }
  RunBuilder& run() { return run_; }

 private:
  Program& Digest(int ordinal) {
    run_.Ordinal(ordinal).Quantity(Quantity::kModelDigest, "model", "Net", 7, digest_).Ordinal(0);
    return *this;
  }

  RunBuilder run_;
  double rate_ = 0.01;
  double digest_ = 0;
};

}  // namespace dlcheck
