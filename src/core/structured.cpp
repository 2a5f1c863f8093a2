#include "core/structured.hpp"

#include <algorithm>

#include "base/trimmed.hpp"
#include "core/decisions.hpp"
#include "praxis/json/schema.hpp"

namespace praxis {
namespace {

constexpr std::uint32_t kMaxCorrections = 2;
constexpr std::size_t kMaxProblems = 5;
constexpr std::size_t kMaxProblemText = 300;

/// Returns the text within a code fence, if one encloses the whole text.
std::string_view unfenced(std::string_view text) {
  constexpr std::string_view kFence = "```";
  text = trimmed(text);
  if (text.size() < 2 * kFence.size() || !text.starts_with(kFence) || !text.ends_with(kFence)) return text;
  text.remove_suffix(kFence.size());
  text.remove_prefix(std::min(text.find('\n'), text.size()));  // including the name of the language
  return trimmed(text);
}

std::unexpected<Error> misfit(const std::string& what, const std::string& path, const std::string& expected) {
  return fail(make_error(ErrorCode::kModel, ErrorKind::kInvalidOutput, what)
                  .set("path", path)
                  .set("expected", expected));
}

std::string place(const std::string& path) { return path.empty() ? "the answer" : path; }

}  // namespace

Result<Json> structured_answer(const Json& schema, std::string_view text) {
  auto compiled = JsonSchema::compile(schema);
  if (!compiled) return misfit("the schema cannot be used: " + compiled.error().message, "", "");
  const std::string_view json = unfenced(text);
  if (json.empty()) return misfit("the answer is empty", "", "JSON");
  auto value = parse_json(json);
  if (!value) return misfit("the answer is no JSON: " + value.error().message, "", "JSON");
  const auto problems = compiled->validate(*value, kMaxProblems);
  if (problems.empty()) return value;
  std::string what;
  for (const SchemaProblem& problem : problems) {
    what += (what.empty() ? "" : "; ") + place(problem.path) + ": " + problem.message;
  }
  return misfit(what, problems.front().path, problems.front().message);
}

std::optional<Decision> check_output(const State& state) {
  const Json& schema = state.output_schema();
  if (schema.is_null()) return std::nullopt;
  const Message& answer = *state.conversation.history().messages().back();
  const auto value = structured_answer(schema, answer.role == Role::kAssistant ? answer.text() : "");
  if (value) return std::nullopt;
  Error error = value.error();
  if (error.message.size() > kMaxProblemText) {
    error.message = repair_utf8(error.message.substr(0, kMaxProblemText)) + " ...";
  }
  if (state.turn->corrections >= kMaxCorrections) {
    error.message = "the answer does not fit the schema, also after " + std::to_string(kMaxCorrections) +
                    " corrections: " + error.message;
    return Finish{StopReason::kInvalidOutput, {}, std::move(error)};
  }
  return runtime_note("your answer does not fit the JSON Schema that was asked for: " + error.message +
                          ". Send the whole answer again, as one JSON value and nothing else.",
                      NoteReason::kSchema);
}

}  // namespace praxis
