#include "checks/engine/language.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dlcheck {
namespace {

TEST(InCppTerms, SpellsCallsAsLibTorchDoes) {
  EXPECT_EQ(InCppTerms("Call model.eval() before, and model.train() after it."),
            "Call model->eval() before, and model->train() after it.");
  EXPECT_EQ(InCppTerms("Run it under torch.no_grad() or torch.inference_mode()."),
            "Run it under torch::NoGradGuard or c10::InferenceMode.");
  EXPECT_EQ(InCppTerms("Clip with torch.nn.utils.clip_grad_norm_ before optimizer.step()."),
            "Clip with torch::nn::utils::clip_grad_norm_ before optimizer.step().");
  EXPECT_EQ(InCppTerms("Use nn.Dropout(0.1); F.softmax takes retain_graph=True."),
            "Use torch::nn::Dropout(0.1); torch::nn::functional::softmax takes retain_graph=true.");
}

TEST(InCppTerms, SpellsALoopOverGroupsOnce) {
  EXPECT_EQ(InCppTerms("Write for group in optimizer.param_groups: group['lr'] = lr."),
            "Write for (auto& group : optimizer.param_groups()) group.options().set_lr(lr).");
}

TEST(InCppTerms, NamesWhatLibTorchHasInsteadOfWhatPythonAloneHas) {
  EXPECT_EQ(InCppTerms("Draw from it, or run it inside torch.random.fork_rng()."),
            "Draw from it, or restore the state of the default generator after it.");
  EXPECT_EQ(InCppTerms("Call torch.use_deterministic_algorithms(True)."),
            "Call at::globalContext().setDeterministicAlgorithms(true, false).");
}

TEST(InCppTerms, LeavesSentencesAndNumbersAlone) {
  const char* const text = "Keep 0.1 of the data. Write total += loss, e.g. in one model.";
  EXPECT_EQ(InCppTerms(text), text);
}

TEST(LanguageOf, IsThatOfTheWriterOfTheRecords) {
  Trace trace;
  EXPECT_EQ(LanguageOf(trace), Language::kPython);
  trace.SetProcessAttribute("writer", "c++");
  EXPECT_EQ(LanguageOf(trace), Language::kCpp);
  trace.SetProcessAttribute("writer", "python");
  EXPECT_EQ(LanguageOf(trace), Language::kPython);
}

}  // namespace
}  // namespace dlcheck
