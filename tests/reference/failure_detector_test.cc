// Who is to blame when ranks cannot go on together, by what they say and do not say.
#include "reference/distributed/health/failure_detector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dlcheck::reference {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::StartsWith;
using State = Word::State;

constexpr milliseconds kLook{100};
constexpr FailureDetector::Limits kLimits{milliseconds(10000), milliseconds(2000)};

// What a detector hears, look by look.
class Watched {
 public:
  explicit Watched(int64_t own, int64_t world = 3)
      : detector_(own, world, kLimits), world_(world) {}

  // So long a time in which all speak but `silent`.
  void Pass(milliseconds time, int64_t silent = -1) {
    for (; time > milliseconds(0); time -= kLook) {
      detector_.Pass(kLook);
      ++beat_;
      for (int64_t rank = 0; rank < world_; ++rank) {
        // Of who is silent the last word is still there, and is read again.
        detector_.Hear(rank, rank == silent ? states_[rank] : Said(rank));
      }
    }
  }
  void Say(int64_t rank, State state, const std::string& why = "") {
    states_[rank].state = state;
    states_[rank].why = why;
  }
  std::string Blamed() const {
    const std::optional<Verdict> verdict = detector_.Blame();
    return verdict ? verdict->line : "";
  }
  const FailureDetector& detector() const { return detector_; }

 private:
  Word Said(int64_t rank) {
    Word& word = states_[rank];
    word.beat = beat_;
    word.step = 37;
    return word;
  }

  FailureDetector detector_;
  int64_t world_;
  int64_t beat_ = 0;
  std::map<int64_t, Word> states_;
};

TEST(Word, ComesBackAsItWasSpelled) {
  const Word word = {12, State::kCutOff, 37, "Connection closed by peer [::1]:5"};
  const Word back = WordIn(Spelled(word));
  EXPECT_EQ(back.beat, 12);
  EXPECT_EQ(back.state, State::kCutOff);
  EXPECT_EQ(back.step, 37);
  EXPECT_EQ(back.why, word.why);
  EXPECT_EQ(WordIn(Spelled(Word())).why, "");
  EXPECT_EQ(WordIn("what is this").beat, 0);
}

TEST(FailureDetector, BlamesNobodyWhileAllSpeak) {
  Watched first(0);
  first.Pass(milliseconds(60000));
  EXPECT_EQ(first.Blamed(), "");
}

TEST(FailureDetector, BlamesWhoIsSilentForAsLongAsTheLimitAndNotBefore) {
  Watched first(0);
  first.Pass(milliseconds(5000));
  first.Pass(milliseconds(9900), /*silent=*/2);
  EXPECT_EQ(first.Blamed(), "");
  first.Pass(kLook, /*silent=*/2);
  EXPECT_EQ(first.Blamed(),
            "rank 2 is stopped or cannot be reached: no sign of life for 10.0 s, last seen at step "
            "37");
}

TEST(FailureDetector, BlamesNobodyWhoSpeaksNowAndThen) {
  Watched first(0);
  for (int times = 0; times < 20; ++times) {
    first.Pass(milliseconds(9000), /*silent=*/1);
    first.Pass(kLook);
  }
  EXPECT_EQ(first.Blamed(), "");
}

TEST(FailureDetector, BlamesWhoIsSilentOnceAnExchangeHasFailed) {
  Watched first(0);
  first.Pass(milliseconds(1000));
  first.Say(1, State::kCutOff, "Connection closed by peer");
  first.Pass(milliseconds(1900), /*silent=*/2);
  EXPECT_EQ(first.Blamed(), "");
  first.Pass(milliseconds(200), /*silent=*/2);
  EXPECT_THAT(first.Blamed(), StartsWith("rank 2 is gone: no sign of life for 2.1 s, last seen"));
}

TEST(FailureDetector, BlamesAtOnceWhoFailedOfItself) {
  Watched first(0);
  first.Say(2, State::kFailed, "no such file");
  first.Pass(kLook);
  EXPECT_EQ(first.Blamed(), "rank 2 failed at step 37: no such file");
}

TEST(FailureDetector, BlamesWhoLivesButDoesNotCome) {
  Watched first(0);
  first.Say(0, State::kCutOff, "Timed out waiting 3000ms for recv operation to complete");
  first.Say(2, State::kCutOff, "Connection closed by peer");
  first.Pass(milliseconds(2100));
  EXPECT_THAT(first.Blamed(), StartsWith("rank 1 lives, but did not come"));
}

TEST(FailureDetector, SaysWhatBrokeWhereAllLive) {
  Watched first(0);
  first.Say(1, State::kCutOff, "Connection reset by peer");
  first.Pass(milliseconds(2100));
  EXPECT_EQ(first.Blamed(),
            "rank 1 lost touch with the others at step 37: Connection reset by peer");
}

TEST(FailureDetector, NamesAllWhoseConnectionsBroke) {
  Watched first(0, 4);
  first.Say(1, State::kCutOff, "Connection reset by peer");
  first.Say(3, State::kCutOff, "Connection closed");
  first.Pass(milliseconds(2100));
  EXPECT_EQ(first.Blamed(),
            "rank 1, 3 lost touch with the others at step 37: Connection reset by peer");
  EXPECT_EQ(first.detector().Blame()->rank, -1);  // so that none takes it for its own failure
  first.Say(0, State::kCutOff, "Connection closed");
  first.Say(2, State::kCutOff, "Timed out waiting 3000ms");
  first.Pass(kLook);
  EXPECT_EQ(first.Blamed(),
            "rank 0, 1, 2, 3 lost touch with the others at step 37: Timed out waiting 3000ms");
}

TEST(FailureDetector, LeavesTheJudgementToTheFirstRankWhileThatSpeaks) {
  Watched second(1);
  second.Say(2, State::kFailed, "no such file");
  second.Say(1, State::kCutOff, "Connection closed by peer");
  second.Pass(milliseconds(60000), /*silent=*/2);
  EXPECT_EQ(second.Blamed(), "");
  second.Pass(milliseconds(2000), /*silent=*/0);
  EXPECT_THAT(second.Blamed(), StartsWith("rank 0 is gone"));
}

TEST(FailureDetector, AwaitsNothingMoreOfWhoIsDone) {
  constexpr milliseconds kForEver = milliseconds::max();
  Watched first(0);
  first.Say(1, State::kDone);
  first.Pass(kLook);
  first.Pass(milliseconds(20000), /*silent=*/1);
  EXPECT_EQ(first.Blamed(), "");
  EXPECT_FALSE(first.detector().AreOthersDone(kForEver));
  first.Say(2, State::kCutOff);
  first.Pass(kLook);
  EXPECT_FALSE(first.detector().AreOthersDone(kForEver));
  first.Pass(milliseconds(1500), /*silent=*/2);
  EXPECT_FALSE(first.detector().AreOthersDone(kForEver));
  EXPECT_TRUE(first.detector().AreOthersDone(milliseconds(1000)));
  first.Say(2, State::kFailed);
  first.Pass(kLook);
  EXPECT_TRUE(first.detector().AreOthersDone(kForEver));
}

}  // namespace
}  // namespace dlcheck::reference
