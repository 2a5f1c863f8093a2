// Trace and span ids have their W3C form, and spans of one parent differ.
#include "praxis/domain/trace.hpp"

#include <gtest/gtest.h>

#include <set>

#include "domain/trace_state.hpp"

namespace praxis {
namespace {

TEST(Trace, IdsHaveTheW3cForm) {
  const TraceContext trace = new_trace(7, 8);
  EXPECT_FALSE(trace.trace.empty());
  EXPECT_EQ(trace.parent, 0U);
  const std::string header = traceparent(trace);
  ASSERT_EQ(header.size(), 55U);
  EXPECT_EQ(header.substr(0, 3) + header.substr(35, 1) + header.substr(52), "00---01");
  EXPECT_EQ(trace_id_from(header.substr(3, 32)), trace.trace);
  EXPECT_EQ(span_id_from(header.substr(36, 16)), trace.span);
  EXPECT_EQ(span_hex(0xAB), "00000000000000ab");
  for (const char* wrong : {"", "ab", "00000000000000xy", "00000000000000abc"})
    EXPECT_FALSE(span_id_from(wrong)) << wrong;
  EXPECT_FALSE(trace_id_from("00"));
}

TEST(Trace, HeaderOfACaller_IsReadAsW3cSays) {
  const std::string trace = "4bf92f3577b34da6a3ce929d0e0e4736", span = "00f067aa0ba902b7";
  const std::string rest = trace + "-" + span + "-";
  for (const std::string& valid : {"00-" + rest + "01", "00-" + rest + "00", "cc-" + rest + "01-what"}) {
    const auto read = trace_from_header(valid);
    ASSERT_TRUE(read) << valid;
    EXPECT_EQ(to_hex(read->trace), trace);
    EXPECT_EQ(span_hex(read->span), span);
    EXPECT_EQ(read->parent, 0U);
  }
  const std::string no_trace(32, '0'), no_span(16, '0');
  for (const std::string& wrong :
       {std::string(), "00-" + rest, "ff-" + rest + "01", "00-" + rest + "01-what", "cc-" + rest + "01x",
        "00-" + rest + "0g", "00_" + rest + "01", "00-" + no_trace + "-" + span + "-01",
        "00-" + trace + "-" + no_span + "-01", "00-4BF92F3577B34DA6A3CE929D0E0E4736-" + span + "-01"})
    EXPECT_FALSE(trace_from_header(wrong)) << wrong;
}

std::string state_with(int count, std::size_t size) {
  std::string list;
  for (int i = 0; i < count; ++i) {
    const std::string key = (list.empty() ? "k" : ",k") + std::to_string(i) + "=";
    list += key + std::string(size, 'v');
  }
  return list;
}

TEST(Trace, StateOfACaller_IsHandedOnByAllSpansBelow) {
  const std::string caller = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  const auto read = trace_from_header(caller, "rojo=00f067aa0ba902b7 , congo@sys=t61 x,\t,");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->state, "rojo=00f067aa0ba902b7,congo@sys=t61 x");
  EXPECT_EQ(span_below(span_below(*read, "a", 1), "b", 1).state, read->state);
  EXPECT_EQ(trace_from_header(caller)->state, "");
  EXPECT_FALSE(trace_from_header("", "rojo=1")) << "without traceparent it has no meaning";
}

TEST(Trace, StateThatIsNotValid_IsLeftOutAsAWhole) {
  for (const std::string& wrong :
       {std::string("rojo"), std::string("a=1,a=2"), std::string("Rojo=1"), std::string("=1"),
        std::string("a="), std::string("a=b=c"), std::string("a=1\r\nX-Key: 1"), std::string("a=\x7f"),
        std::string("a=1,\xc3\xa4=2"), "a=" + std::string(257, 'v'), std::string(257, 'k') + "=1",
        state_with(33, 1)})
    EXPECT_EQ(trace_state_from(wrong), "") << wrong;
  EXPECT_EQ(trace_state_from(state_with(32, 1)), state_with(32, 1));
}

TEST(Trace, LongState_LosesLongMembersThenTheLast) {
  EXPECT_EQ(trace_state_from("long=" + std::string(200, 'v') + "," + state_with(4, 97)), state_with(4, 97));
  EXPECT_EQ(trace_state_from(state_with(4, 122) + ",x=" + std::string(6, 'v')).size(), kMaxTraceState);
  EXPECT_EQ(trace_state_from(state_with(9, 97)), state_with(5, 97));
}

TEST(Trace, SpansOfOneParentDiffer) {
  const TraceContext trace = new_trace(1, 2);
  std::set<SpanId> spans{trace.span};
  for (int effect = 1; effect <= 200; ++effect) {
    for (std::uint64_t attempt = 1; attempt <= 4; ++attempt) {
      const TraceContext below = span_below(trace, "e" + std::to_string(effect), attempt);
      EXPECT_TRUE(spans.insert(below.span).second);
      EXPECT_EQ(below.span, span_below(trace, "e" + std::to_string(effect), attempt).span);
    }
  }
}

}  // namespace
}  // namespace praxis
