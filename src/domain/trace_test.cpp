// Trace and span ids have their W3C form, and spans of one parent differ.
#include "praxis/domain/trace.hpp"

#include <gtest/gtest.h>

#include <set>

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
