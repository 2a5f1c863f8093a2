#include "evals/check.hpp"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string_view>
#include <utility>

#include "app/plain_text.hpp"
#include "base/trimmed.hpp"
#include "praxis/base/duration.hpp"
#include "praxis/base/suggest.hpp"
#include "praxis/json/json.hpp"

namespace praxis::evals {
namespace {

constexpr std::size_t kShownAnswer = 60;  // columns of an answer in a message

std::unexpected<Error> mistake(std::string message) { return fail(ErrorCode::kInput, std::move(message)); }

std::string shown(std::string_view text) { return app::in_quotes(app::one_line(text, kShownAnswer)); }

// ---- reading

Result<std::vector<std::string>> texts_of(const Json& value, std::string_view name) {
  const auto wrong = [&] {
    return mistake(fmt::format("\"{}\" must be a string or a list of strings", name));
  };
  if (value.is_number() && name == "contains") return std::vector{to_plain_text(value)};
  if (value.is_string()) return std::vector{to_plain_text(value)};
  const JsonArray* const list = value.if_array();
  if (list == nullptr) return wrong();
  std::vector<std::string> texts;
  for (const Json& each : *list) {
    if (!each.is_string()) return wrong();
    texts.push_back(to_plain_text(each));
  }
  return texts;
}

std::optional<double> number_in(const Json& value) {
  if (value.is_number()) return value.to_number<double>();
  if (!value.is_string()) return std::nullopt;
  const std::string_view text = trimmed(std::string_view(value.get_string()));
  double number = 0;
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (wrong != std::errc() || end != text.data() + text.size() || !std::isfinite(number)) return std::nullopt;
  return number;
}

Result<Check> read_exact(const Json& value, const Json& /*table*/) {
  if (value.is_null() || value.is_array() || value.is_object())
    return mistake("\"exact\" must be a string, or the case needs \"expected\"");
  return checks::Exact{to_plain_text(value)};
}

Result<Check> read_contains(const Json& value, const Json& /*table*/) {
  auto texts = texts_of(value, "contains");
  if (!texts) return fail(texts.error());
  return checks::Contains{*std::move(texts)};
}

Result<Check> read_pattern(const Json& value, const Json& /*table*/) {
  if (!value.is_string()) return mistake("\"pattern\" must be a string");
  re2::RE2::Options options;
  options.set_log_errors(false);
  const std::string text = to_plain_text(value);
  auto pattern = std::make_shared<const re2::RE2>(text, options);
  if (!pattern->ok())
    return mistake(fmt::format("\"pattern\" is not a pattern of RE2: {}", pattern->error()));
  return checks::Pattern{text, std::move(pattern)};
}

Result<Check> read_schema(const Json& value, const Json& /*table*/) {
  if (!value.is_object() && !value.is_bool()) return mistake("\"schema\" must be a JSON Schema, as a table");
  auto schema = JsonSchema::compile(value);
  if (!schema) return mistake("\"schema\": " + schema.error().message);
  return checks::FollowsSchema{*std::move(schema)};
}

Result<Check> read_number(const Json& value, const Json& table) {
  const auto number = number_in(value);
  if (!number) return mistake("\"number\" must be a number, or the case needs one as \"expected\"");
  const Json& within = json_at(table, "within");
  const auto bound = within.is_null() ? std::optional(0.0) : number_in(within);
  if (!bound || *bound < 0) return mistake("\"within\" must be a number that is not negative");
  return checks::Number{*number, *bound};
}

Result<Check> read_similarity(const Json& value, const Json& table) {
  constexpr double kUsualLeast = 0.8;
  if (!value.is_string() && !value.is_number())
    return mistake("\"similarity\" must be a string, or the case needs \"expected\"");
  checks::Similar check{.text = to_plain_text(value), .least = kUsualLeast};
  const std::string measure = json_string(table, "measure", "token_f1");
  if (measure == "rouge_l") {
    check.measure = SimilarityMeasure::kRougeL;
  } else if (measure != "token_f1") {
    return mistake("\"measure\" must be token_f1 or rouge_l");
  }
  if (const Json& least = json_at(table, "at_least"); !least.is_null()) {
    const auto number = least.is_number() ? number_in(least) : std::nullopt;
    if (!number || *number < 0 || *number > 1) return mistake("\"at_least\" must be a number from 0 to 1");
    check.least = *number;
  }
  return check;
}

Result<Check> read_program(const Json& value, const Json& table) {
  auto argv = texts_of(value, "program");
  if (!argv || argv->empty() || argv->front().empty())
    return mistake("\"program\" must be a program, or a list of it and its arguments");
  checks::Program check{.argv = *std::move(argv)};
  const Json& given = json_at(table, "timeout");
  if (given.is_null()) return check;
  const auto timeout = given.is_string() ? parse_duration(given.get_string()) : Result<Millis>(fail({}));
  if (!timeout || timeout->count() <= 0) return mistake("\"timeout\" must be a duration such as \"30s\"");
  check.timeout = *timeout;
  return check;
}

Result<Check> read_sql(const Json& value, const Json& table) {
  const std::string database = json_string(table, "database");
  if (!value.is_string() || value.get_string().empty() || database.empty())
    return mistake("\"sql\" must be a statement, with the file of the database in \"database\"");
  const JsonArray* const rows = json_at(table, "rows").if_array();
  if (rows == nullptr || !std::ranges::all_of(*rows, [](const Json& row) { return row.is_array(); }))
    return mistake("\"rows\" must be the expected rows, each an array of its values");
  return checks::Sql{to_plain_text(value), database, *rows};
}

Result<Check> read_judge(const Json& value, const Json& /*table*/) {
  if (!value.is_string() || trimmed(std::string_view(value.get_string())).empty())
    return mistake("\"judge\" must be the rubric, as a string");
  return checks::Judged{to_plain_text(value)};
}

Result<Check> read_tools(const Json& value, const Json& table) {
  auto names = texts_of(value, "tools");
  if (!names) return fail(names.error());
  const std::string order = json_string(table, "order", "in_order");
  using Order = checks::ToolOrder;
  const std::array<std::pair<std::string_view, Order>, 3> orders{
      {{"in_order", Order::kInOrder}, {"exactly", Order::kExactly}, {"any_order", Order::kAnyOrder}}};
  const auto found = std::ranges::find(orders, order, &std::pair<std::string_view, Order>::first);
  if (found == orders.end()) return mistake("\"order\" must be in_order, exactly or any_order");
  return checks::Tools{*std::move(names), found->second};
}

Result<Check> read_never(const Json& value, const Json& /*table*/) {
  auto names = texts_of(value, "never");
  if (!names) return fail(names.error());
  return checks::Never{*std::move(names)};
}

Result<Check> read_max_usd(const Json& value, const Json& /*table*/) {
  constexpr double kMost = 1e6, kMicro = 1e6;
  const auto usd = value.is_number() ? number_in(value) : std::nullopt;
  if (!usd || *usd < 0 || *usd > kMost) return mistake("\"max_usd\" must be a number from 0 to 1000000");
  return checks::MaxCost{{std::llround(*usd * kMicro)}};
}

Result<Check> read_max_time(const Json& value, const Json& /*table*/) {
  const auto time = value.is_string() ? parse_duration(value.get_string()) : Result<Millis>(fail({}));
  if (!time) return mistake("\"max_time\" must be a duration such as \"30s\"");
  return checks::MaxTime{*time};
}

Result<Check> read_max_steps(const Json& value, const Json& /*table*/) {
  constexpr double kMost = 1e6;
  const auto steps = value.is_number() ? number_in(value) : std::nullopt;
  if (!steps || *steps < 1 || *steps > kMost || *steps != std::floor(*steps))
    return mistake("\"max_steps\" must be an integer from 1 to 1000000");
  return checks::MaxSteps{static_cast<std::uint32_t>(*steps)};
}

/// A kind of check as suites name it.
struct Kind {
  std::string_view name;
  std::array<std::string_view, 2> settings;  ///< further keys of its table
  bool takes_expected;                       ///< its name alone compares with the expected answer of the case
  Result<Check> (*read)(const Json& value, const Json& table);
};
constexpr std::array kKinds{Kind{"exact", {}, true, read_exact},
                            Kind{"contains", {}, true, read_contains},
                            Kind{"pattern", {}, true, read_pattern},
                            Kind{"schema", {}, false, read_schema},
                            Kind{"number", {"within"}, true, read_number},
                            Kind{"similarity", {"measure", "at_least"}, true, read_similarity},
                            Kind{"program", {"timeout"}, false, read_program},
                            Kind{"sql", {"database", "rows"}, false, read_sql},
                            Kind{"judge", {}, false, read_judge},
                            Kind{"tools", {"order"}, false, read_tools},
                            Kind{"never", {}, false, read_never},
                            Kind{"max_usd", {}, false, read_max_usd},
                            Kind{"max_time", {}, false, read_max_time},
                            Kind{"max_steps", {}, false, read_max_steps}};

std::unexpected<Error> unknown(std::string_view name) {
  std::vector<std::string> names;
  for (const Kind& kind : kKinds) names.emplace_back(kind.name);
  const auto meant = closest(name, names);
  return mistake(fmt::format("there is no check {}; {}", app::in_quotes(name),
                             meant ? "did you mean \"" + *meant + "\"?" : "there are " + app::joined(names)));
}

const Kind* kind_named(std::string_view name) {
  const auto found = std::ranges::find(kKinds, name, &Kind::name);
  return found == kKinds.end() ? nullptr : found;
}

// ---- judging

std::vector<std::string> tools_of(const AgentResult& result) {
  std::vector<std::string> tools;
  for (const ActionResult& action : result.actions) tools.push_back(action.tool);
  return tools;
}

std::string listed(const std::vector<std::string>& tools) {
  return tools.empty() ? "no tool" : app::one_line(app::joined(tools), kShownAnswer);
}

bool in_order(const std::vector<std::string>& wanted, const std::vector<std::string>& called) {
  auto next = wanted.begin();
  for (const std::string& tool : called) {
    if (next != wanted.end() && *next == tool) ++next;
  }
  return next == wanted.end();
}

bool fits(const checks::Tools& check, std::vector<std::string> called) {
  if (check.order == checks::ToolOrder::kExactly) return called == check.names;
  if (check.order == checks::ToolOrder::kInOrder) return in_order(check.names, called);
  std::vector<std::string> wanted = check.names;
  std::ranges::sort(wanted);
  std::ranges::sort(called);
  return std::ranges::includes(called, wanted);
}

/// The last number in a text, such as -2.5 in "from 3 to -2.5."; commas between thousands do not end it.
std::optional<double> last_number(std::string_view text) {
  static const re2::RE2 number(R"((-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:[eE][-+]?\d+)?))");
  re2::StringPiece rest(text.data(), text.size());
  std::optional<double> last;
  for (std::string found; re2::RE2::FindAndConsume(&rest, number, &found);) {
    std::erase(found, ',');
    last = number_in(Json(found));
  }
  return last;
}

class Judge {
 public:
  explicit Judge(const AgentResult& result) : result_(result) {}
  using Problem = std::optional<std::string>;

  Problem operator()(const checks::Exact& check) const {
    if (trimmed(result_.text) == trimmed(check.text)) return {};
    return fmt::format("exact: the answer is {}, not {}", shown(result_.text), shown(check.text));
  }
  Problem operator()(const checks::Contains& check) const {
    for (const std::string& text : check.texts) {
      if (!result_.text.contains(text))
        return fmt::format("contains: {} is not in the answer {}", shown(text), shown(result_.text));
    }
    return {};
  }
  Problem operator()(const checks::Pattern& check) const {
    if (re2::RE2::PartialMatch(result_.text, *check.pattern)) return {};
    return fmt::format("pattern: {} does not match the answer {}", shown(check.text), shown(result_.text));
  }
  Problem operator()(const checks::FollowsSchema& check) const {
    Json answer = result_.structured;
    if (answer.is_null()) {
      auto parsed = parse_json(result_.text);
      if (!parsed) return "schema: the answer is not JSON: " + parsed.error().message;
      answer = *std::move(parsed);
    }
    const auto problems = check.schema.validate(answer, 1);
    if (problems.empty()) return {};
    const SchemaProblem& first = problems.front();
    return fmt::format("schema: {}{}{}", first.path, first.path.empty() ? "" : ": ", first.message);
  }
  Problem operator()(const checks::Number& check) const {
    const auto found = last_number(result_.text);
    if (!found) return fmt::format("number: the answer {} has no number", shown(result_.text));
    if (std::abs(*found - check.value) <= check.within) return {};
    return fmt::format("number: {} is not within {} of {}", *found, check.within, check.value);
  }
  Problem operator()(const checks::Similar& check) const {
    const double found = similarity(check.measure, result_.text, check.text);
    if (found >= check.least) return {};
    return fmt::format("similarity: {:.3f} is below {}; the answer is {}", found, check.least,
                       shown(result_.text));
  }
  Problem operator()(const checks::Program& /*check*/) const { return {}; }
  Problem operator()(const checks::Sql& /*check*/) const { return {}; }
  Problem operator()(const checks::Judged& /*check*/) const { return {}; }
  Problem operator()(const checks::Tools& check) const {
    const auto called = tools_of(result_);
    if (fits(check, called)) return {};
    return fmt::format("tools: the run called {}, not {}", listed(called), listed(check.names));
  }
  Problem operator()(const checks::Never& check) const {
    for (const std::string& tool : tools_of(result_)) {
      if (std::ranges::count(check.names, tool) > 0) return "never: the run called " + tool;
    }
    return {};
  }
  Problem operator()(const checks::MaxCost& check) const {
    const Usage usage = result_.usage + result_.usage_children;
    if (usage.cost.value <= check.cost.value) return {};
    return fmt::format("max_usd: the run cost ${}, more than ${}", usage.cost.usd(), check.cost.usd());
  }
  Problem operator()(const checks::MaxTime& check) const {
    if (result_.duration <= check.time) return {};
    return fmt::format("max_time: the run took {} ms, more than {} ms", result_.duration.count(),
                       check.time.count());
  }
  Problem operator()(const checks::MaxSteps& check) const {
    if (result_.steps <= check.steps) return {};
    return fmt::format("max_steps: the run took {} steps, more than {}", result_.steps, check.steps);
  }

 private:
  const AgentResult& result_;
};

}  // namespace

Result<Check> read_check(const Json& json, const Json& expected) {
  if (json.is_string()) {
    const std::string_view name(json.get_string());
    const Kind* const kind = kind_named(name);
    if (kind == nullptr) return unknown(name);
    if (!kind->takes_expected)
      return mistake(fmt::format("the check \"{0}\" needs a value: {{{0} = ...}}", name));
    if (expected.is_null())
      return mistake(fmt::format("the check \"{}\" needs \"expected\" in the case", name));
    return kind->read(expected, nullptr);
  }
  const JsonObject* const table = json.if_object();
  if (table == nullptr || table->empty()) return mistake("a check must be its name or a table");
  const Kind* kind = nullptr;
  for (const auto& [key, value] : *table) {
    if (const Kind* found = kind_named(key); kind == nullptr && found != nullptr) kind = found;
  }
  if (kind == nullptr) return unknown(table->begin()->key());
  for (const auto& [key, value] : *table) {
    const bool is_setting = std::ranges::find(kind->settings, std::string_view(key)) != kind->settings.end();
    if (key != kind->name && !is_setting)
      return mistake(fmt::format("a check has one name and its settings; {} does not belong to \"{}\"",
                                 app::in_quotes(key), kind->name));
  }
  const Json& value = json_at(json, kind->name);
  // `true` stands for the expected answer, where settings follow.
  return kind->read(kind->takes_expected && value == Json(true) ? expected : value, json);
}

std::optional<std::string> problem_of(const Check& check, const AgentResult& result) {
  return std::visit(Judge(result), check);
}

}  // namespace praxis::evals
