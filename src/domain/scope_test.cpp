// A scope can only be narrowed, for any request of a sub-agent; trace ids have their W3C form.
#include "praxis/domain/scope.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

namespace praxis {
namespace {

/// Random scopes and narrowings, also extreme ones.
class Dice {
 public:
  explicit Dice(unsigned seed) : random_(seed) {}

  std::uint64_t number(std::uint64_t end) { return random_() % end; }
  template <class T>
  std::optional<T> bound() {
    if (number(3) == 0) return std::nullopt;
    return static_cast<T>(number(5));
  }
  ScopeBudget budget() {
    ScopeBudget budget{std::nullopt, bound<std::int64_t>(), bound<std::uint32_t>(), bound<std::uint32_t>()};
    if (number(3) != 0) budget.cost = MicroUsd{static_cast<std::int64_t>(number(5))};
    return budget;
  }
  Narrowing narrowing() {
    Narrowing by;
    if (number(2) == 0) by.cancellation = stops[number(stops.size())].get_token();
    if (number(2) == 0) by.deadline = std::chrono::nanoseconds(number(5));
    by.budget = budget();
    if (number(2) == 0) by.permissions = JsonObject{{"allow", JsonArray{"t" + std::to_string(number(4))}}};
    by.span = "e" + std::to_string(number(20));
    return by;
  }

  std::vector<std::stop_source> stops{3};

 private:
  std::mt19937_64 random_;
};

template <class T>
bool within(const std::optional<T>& below, const std::optional<T>& above) {
  return !above || (below && *below <= *above);
}

TEST(Scope, NarrowedScopeIsNeverWider) {
  for (unsigned seed = 0; seed < 500; ++seed) {
    Dice dice(seed);
    Scope above;
    above.principal = {"ada", Surface::kServer};
    above.trace = new_trace(seed, seed + 1);
    for (int depth = 0; depth < 6; ++depth) {
      const Narrowing by = dice.narrowing();
      const Scope below = narrowed(above, by);
      SCOPED_TRACE("seed " + std::to_string(seed) + " depth " + std::to_string(depth));
      EXPECT_TRUE(within(below.deadline, above.deadline) && within(below.deadline, by.deadline));
      EXPECT_TRUE(within(below.budget.cost, above.budget.cost) && within(below.budget.cost, by.budget.cost));
      EXPECT_TRUE(within(below.budget.tokens, above.budget.tokens) &&
                  within(below.budget.tokens, by.budget.tokens));
      EXPECT_TRUE(within(below.budget.tool_calls, above.budget.tool_calls) &&
                  within(below.budget.tool_calls, by.budget.tool_calls));
      EXPECT_TRUE(within(below.budget.steps, above.budget.steps) &&
                  within(below.budget.steps, by.budget.steps));
      ASSERT_GE(below.permissions.size(), above.permissions.size());
      EXPECT_TRUE(std::equal(above.permissions.begin(), above.permissions.end(), below.permissions.begin()));
      ASSERT_GE(below.cancellation.size(), above.cancellation.size());
      EXPECT_TRUE(
          std::equal(above.cancellation.begin(), above.cancellation.end(), below.cancellation.begin()));
      EXPECT_EQ(below.principal, above.principal);
      EXPECT_EQ(below.trace.trace, above.trace.trace);
      EXPECT_EQ(below.trace.parent, above.trace.span);
      EXPECT_NE(below.trace.span, above.trace.span);
      above = below;
    }
    dice.stops[0].request_stop();
    EXPECT_EQ(above.cancelled(), std::ranges::count(above.cancellation, dice.stops[0].get_token()) > 0);
  }
}

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
