// The checkers of an evaluation, as data of a suite: what the answer of a run must be, and what it may take.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "evals/similarity.hpp"
#include "praxis/core/report.hpp"
#include "praxis/json/schema.hpp"

namespace re2 {
class RE2;
}

namespace praxis::evals {

namespace checks {

/// The answer is this text; white space around both does not count.
struct Exact {
  std::string text;
};
/// The answer contains each of these texts.
struct Contains {
  std::vector<std::string> texts;
};
/// A part of the answer matches.
struct Pattern {
  std::string text;
  std::shared_ptr<const re2::RE2> pattern;
};
/// The answer is JSON that follows the schema.
struct FollowsSchema {
  JsonSchema schema;
};
/// The last number of the answer differs from this by at most `within`.
struct Number {
  double value = 0;
  double within = 0;
};
/// The similarity of the answer and this text is at least `least`.
struct Similar {
  std::string text;
  SimilarityMeasure measure = SimilarityMeasure::kTokenF1;
  double least = 0;
};
/// A program accepts the answer (evals/program_check.hpp).
struct Program {
  std::vector<std::string> argv;
  Millis timeout{30'000};
};
/// A statement on a SQLite file finds these rows, in this order (evals/sql_check.hpp).
struct Sql {
  std::string statement;
  std::string database;  ///< relative to the folder of the suite, or absolute
  JsonArray rows;        ///< each an array of its values
};
/// A model accepts the answer by the rubric (evals/judge.hpp).
struct Judged {
  std::string rubric;
};
enum class ToolOrder : std::uint8_t {
  kInOrder,   ///< in this order, others may come between
  kExactly,   ///< these and no others, in this order
  kAnyOrder,  ///< each of them at least as often as the list has it
};
/// The tools that the run called.
struct Tools {
  std::vector<std::string> names;
  ToolOrder order = ToolOrder::kInOrder;
};
/// Tools that the run never called.
struct Never {
  std::vector<std::string> names;
};
/// What the run took, sub-agents included, was at most this.
struct MaxCost {
  MicroUsd cost;
};
struct MaxTime {
  Millis time{0};
};
struct MaxSteps {
  std::uint32_t steps = 0;
};

}  // namespace checks

using Check = std::variant<checks::Exact, checks::Contains, checks::Pattern, checks::FollowsSchema,
                           checks::Number, checks::Similar, checks::Program, checks::Sql, checks::Judged,
                           checks::Tools, checks::Never, checks::MaxCost, checks::MaxTime, checks::MaxSteps>;

/// Reads one check: its name, for those that compare with `expected`; or a table such as `{contains =
/// ["a", "b"]}` with one name and its settings. Error `kInput`, without the place.
Result<Check> read_check(const Json& json, const Json& expected);

/// Why the result of a run does not meet the check; nothing if it does, or if it needs a
/// program, a database or a model.
std::optional<std::string> problem_of(const Check& check, const AgentResult& result);

}  // namespace praxis::evals
