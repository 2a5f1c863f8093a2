#include "engines/restate/guard.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "base/protobuf_fields.hpp"
#include "engines/restate/frames.hpp"
#include "engines/restate/testing/recorded.hpp"
#include "praxis/base/utf8.hpp"

namespace praxis::restate {
namespace {

using ::testing::HasSubstr;
using namespace testing;  // NOLINT(google-build-using-namespace)

struct BadFrame {
  FrameType type = FrameType::kEnd;
  std::string_view hex = "";
};

std::string answer_of(std::initializer_list<BadFrame> frames) {
  std::string out;
  for (const BadFrame& frame : frames) put_frame(out, frame.type, unhex(frame.hex));
  return out;
}

constexpr std::string_view kSuspendOn1 = "0a0101";
constexpr std::string_view kRun1 = "580162077265636f726473";
constexpr std::string_view kPropose1 =
    "080172036162"
    "63";

struct Malformed {
  const char* what;  ///< of the guard's message
  std::string answer;
};

/// The malformed outputs of which docs/scale-out.md says what they do to a server, and their kin.
std::vector<Malformed> malformed() {
  using enum FrameType;
  return {
      {"an end without an output", answer_of({{kEnd}})},
      {"not UTF-8", answer_of({{kSetState, "0a02c3281a00"}, {kSuspension, "12010a"}})},
      {"not UTF-8", answer_of({{kClearState, "0a01ff"}, {kOutput, "7200"}, {kEnd}})},
      {"not UTF-8", answer_of({{kSetState, "0a001a00"}, {kSuspension, "120111"}})},
      {"of type 1042", answer_of({{static_cast<FrameType>(0x0412), "5801"}, {kSuspension, kSuspendOn1}})},
      {"id of no awakeable", answer_of({{kCompleteAwakeable,
                                         "0a09"
                                         "7369676e5f31414141"
                                         "1200"},
                                        {kOutput, "7200"},
                                        {kEnd}})},
      {"without an id", answer_of({{kCompleteAwakeable,
                                    "0a09"
                                    "70726f6d5f31414141"
                                    "1200"},
                                   {kOutput, "7200"},
                                   {kEnd}})},
      {"id out of order", answer_of({{kRun, "580562077265636f726473"}, {kSuspension, kSuspendOn1}})},
      {"second run", answer_of({{kRun, kRun1}, {kRun, "580262077265636f726473"}})},
      {"id out of order",
       answer_of({{kSleep, "08015801"}, {kSleep, "08015801"}, {kSuspension, kSuspendOn1}})},
      {"not open", answer_of({{kProposeRunCompletion, kPropose1}, {kSuspension, kSuspendOn1}})},
      {"not open",
       answer_of({{kRun, kRun1}, {kProposeRunCompletion, kPropose1}, {kProposeRunCompletion, kPropose1}})},
      {"waits for nothing", answer_of({{kSuspension}})},
      {"never completes", answer_of({{kRun, kRun1}, {kSuspension, kSuspendOn1}})},
      {"never completes", answer_of({{kSuspension, kSuspendOn1}})},
      {"reserved signal", answer_of({{kSuspension, "120102"}})},
      {"after the output", answer_of({{kOutput, "7200"}, {kOutput, "7200"}, {kEnd}})},
      {"after the output", answer_of({{kOutput, "7200"}, {kRun, kRun1}, {kEnd}})},
      {"without a value", answer_of({{kOutput}, {kEnd}})},
      {"impossible moment", answer_of({{kSleep, "08ffffffffffffffffff015801"}, {kSuspension, kSuspendOn1}})},
      {"after the last one", answer_of({{kSuspension, "120111"}, {kEnd}})},
      {"without an end", answer_of({{kRun, kRun1}})},
      {"without an end", ""},
      {"within a frame", answer_of({{kSuspension, "120111"}}).substr(0, 9)},
  };
}

TEST(RestateGuard, HoldsBackWhatIsKnownToHarm) {
  const auto invocation = read_invocation(request_of({kInput}));
  ASSERT_TRUE(invocation);
  for (const auto& [what, answer] : malformed()) {
    const auto checked = check_answer(*invocation, answer);
    ASSERT_FALSE(checked) << what;
    EXPECT_THAT(checked.error().message, HasSubstr(what));
  }
  std::string flagged = finish(*invocation);
  flagged[2] = 1;
  EXPECT_FALSE(check_answer(*invocation, flagged));
}

/// The rules that keep a server alive, in the plainest form: written without the guard's code.
bool is_harmless(const Invocation& known, std::string_view answer) {
  const auto frames = read_frames(answer);
  if (!frames || frames->empty()) return false;
  int outputs = known.has_output ? 1 : 0;
  for (const Frame& frame : *frames) {
    const bool is_last = &frame == &frames->back();
    const bool ends = frame.type == FrameType::kEnd || frame.type == FrameType::kSuspension ||
                      frame.type == FrameType::kError;
    if (ends != is_last) return false;
    if (frame.type == FrameType::kOutput) ++outputs;
    if (frame.type == FrameType::kEnd && outputs != 1) return false;
    if (frame.type != FrameType::kSetState && frame.type != FrameType::kClearState) continue;
    const auto key = ProtobufReader(frame.message).next();
    if (!key || !*key || !is_valid_utf8((*key)->bytes)) return false;
  }
  return outputs <= 1;
}

std::string mutated(std::string answer, std::mt19937& random) {
  const auto pick = [&](std::size_t most) {
    return std::uniform_int_distribution<std::size_t>(0, most)(random);
  };
  const auto frames = *read_frames(answer);
  const std::size_t at = pick(answer.size() - 1);
  switch (pick(4)) {
    case 0:
      answer[at] = static_cast<char>(pick(255));
      return answer;
    case 1:
      return answer.erase(at, 1);
    case 2:
      return answer.insert(at, 1, static_cast<char>(pick(255)));
    default: {  // frames are left out, doubled, or change places
      std::string out;
      for (std::size_t i = pick(2); i < frames.size(); ++i) {
        const Frame& frame = frames[pick(1) == 0 ? i : pick(frames.size() - 1)];
        put_frame(out, frame.type, frame.message);
      }
      return out;
    }
  }
}

TEST(RestateGuard, LetsNoMutationThroughThatHarms) {
  std::mt19937 random(27);  // NOLINT(cert-msc51-cpp): the same mutations each time
  const auto fresh = *read_invocation(request_of({kInput}));
  const auto slept = *read_invocation(
      request_of({kInput, kFirstRun, run_completed(1, "abc"), kSetAwakeable, kSleepTwo, kSignal17}, true));
  const auto woken = *read_invocation(wake_request());
  std::size_t passed = 0;
  for (int round = 0; round < 4'000; ++round) {
    for (const Invocation* known : {&fresh, &slept, &woken}) {
      for (const std::string& answer : {propose(*known, "abc"), suspend(*known, UnixMillis{1'000}),
                                        finish(*known), wake(*known), refuse("no", Millis{1})}) {
        const std::string changed = mutated(answer, random);
        if (!check_answer(*known, changed)) continue;
        ++passed;
        ASSERT_TRUE(is_harmless(*known, changed)) << ::testing::PrintToString(changed);
      }
    }
  }
  EXPECT_GT(passed, 1'000U);  // such as those of a batch's bytes
}

}  // namespace
}  // namespace praxis::restate
