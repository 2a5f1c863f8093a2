#include "policy/conditions.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "base/time_zone.hpp"
#include "praxis/base/duration.hpp"
#include "praxis/core/state.hpp"

namespace praxis {
namespace {

/// `PolicyRule::during`. If `from` is later than `to`, the span ends on the day after.
struct TimesOfDay {
  int from = 0, to = 24 * 60;  ///< minutes since midnight; the minute `to` is outside
  std::uint8_t days = 0x7f;    ///< of the beginning; bit 0 is Monday
  std::string zone = {};
};

/// As in `PolicyRule::given`.
using GivenCalls = std::pair<UnixMillis, std::uint32_t>;

constexpr std::int64_t kMostCalls = 1'000;
constexpr int kDay = 24 * 60;
constexpr std::array<std::string_view, 7> kDays{"mon", "tue", "wed", "thu", "fri", "sat", "sun"};

std::unexpected<Error> bad_condition(std::string why) { return fail(ErrorCode::kInput, std::move(why)); }

/// Refuses keys of a table that are not among `known`.
Status check_table(std::string_view name, const Json& table, const std::vector<std::string_view>& known) {
  if (!table.is_object())
    return bad_condition('"' + std::string(name) + "\" must be a table, not " + to_json_text(table));
  for (const auto& [key, value] : table.get_object()) {
    if (std::ranges::find(known, std::string_view(key)) == known.end())
      return bad_condition('"' + std::string(name) + "\" has no key \"" + std::string(key) + '"');
  }
  return {};
}

/// Minutes since midnight of `HH:MM`, up to 24:00.
std::optional<int> minutes_of(std::string_view text) {
  const auto number = [](std::string_view digits) -> std::optional<int> {
    int value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc{} || end != digits.data() + digits.size() || value < 0) return std::nullopt;
    return value;
  };
  if (text.size() != 5 || text[2] != ':') return std::nullopt;
  const auto hour = number(text.substr(0, 2)), minute = number(text.substr(3));
  if (!hour || !minute || *minute > 59 || *hour * 60 + *minute > kDay) return std::nullopt;
  return *hour * 60 + *minute;
}

std::string clock_text(int minutes) {
  const auto two = [](int n) { return std::string(n < 10 ? "0" : "") + std::to_string(n); };
  return two(minutes / 60) + ':' + two(minutes % 60);
}

Result<std::uint8_t> days_of(const Json& json) {
  const JsonArray* const list = json.if_array();
  unsigned days = 0;
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
    const auto day = std::ranges::find_if(kDays, [&](std::string_view name) {
      return (*list)[i].is_string() && (*list)[i].get_string() == name;
    });
    if (day == kDays.end())
      return bad_condition("\"during.days\" has mon, tue, ... sun, not " + to_json_text((*list)[i]));
    days |= 1U << static_cast<unsigned>(day - kDays.begin());
  }
  if (days == 0) return bad_condition("\"during.days\" must be a list such as [\"mon\", \"fri\"]");
  return static_cast<std::uint8_t>(days);
}

Result<TimesOfDay> read_times(const Json& json) {
  if (auto checked = check_table("during", json, {"from", "to", "days", "zone"}); !checked)
    return fail(std::move(checked.error()));
  TimesOfDay times;
  for (auto [key, minutes] : {std::pair{"from", &times.from}, std::pair{"to", &times.to}}) {
    const Json& given = json_at(json, key);
    if (given.is_null()) continue;
    const auto read = given.is_string() ? minutes_of(given.get_string()) : std::nullopt;
    if (!read)
      return bad_condition(std::string("\"during.") + key + "\" must be a time such as \"09:00\", not " +
                           to_json_text(given));
    *minutes = *read;
  }
  if (times.from == times.to || times.from == kDay || times.to == 0)
    return bad_condition("\"during\" must begin before 24:00 and end after 00:00, and not when it begins");
  if (const Json& days = json_at(json, "days"); !days.is_null()) {
    const auto read = days_of(days);
    if (!read) return fail(read.error());
    times.days = *read;
  }
  times.zone = json_string(json, "zone");
  if (times.zone.empty())
    return bad_condition("\"during\" needs a \"zone\", such as \"UTC\", \"+02:00\" or \"Europe/Berlin\"");
  if (const auto local = TimeZone::find(times.zone); !local) return fail(local.error());
  return times;
}

/// A number of calls, and in which time; 0: in all.
struct CallBound {
  std::uint32_t calls = 0;
  Millis per{0};
};

Result<CallBound> read_count(std::string_view key, const Json& json) {
  if (auto checked = check_table(key, json, {"calls", "per"}); !checked)
    return fail(std::move(checked.error()));
  CallBound count;
  const Json& calls = json_at(json, "calls");
  const std::int64_t number = json_int(json, "calls");
  if ((!calls.is_int64() && !calls.is_uint64()) || number < 0 || number > kMostCalls)
    return bad_condition('"' + std::string(key) + ".calls\" must be an integer from 0 to 1000, not " +
                         to_json_text(calls));
  count.calls = static_cast<std::uint32_t>(number);
  if (const Json& per = json_at(json, "per"); !per.is_null()) {
    const auto read = per.is_string() ? parse_duration(per.get_string()) : Result<Millis>(Millis{0});
    if (!read || read->count() == 0)
      return bad_condition('"' + std::string(key) + ".per\" must be a duration such as \"1h\", not " +
                           to_json_text(per));
    count.per = *read;
  }
  return count;
}

Status read_given_calls(const Json& json, PolicyRule& rule) {
  const JsonArray* const list = json.if_array();
  if (list == nullptr && !json.is_null()) return bad_condition("\"given\" must be a list");
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
    const Json& each = (*list)[i];
    const std::int64_t calls = json_int(each, "calls");
    if (calls <= 0 || calls > std::numeric_limits<std::int32_t>::max() || !json_at(each, "time").is_int64())
      return bad_condition("\"given\" must have times and numbers of calls");
    rule.given.push_back({{json_int(each, "time")}, static_cast<std::uint32_t>(calls)});
  }
  return {};
}

/// `1h`, `90s`: the largest unit that divides it.
std::string duration_text(Millis duration) {
  constexpr std::array<std::pair<std::string_view, std::int64_t>, 5> kUnits{
      {{"d", 86'400'000}, {"h", 3'600'000}, {"m", 60'000}, {"s", 1'000}, {"ms", 1}}};
  const auto unit =
      std::ranges::find_if(kUnits, [&](const auto& each) { return duration.count() % each.second == 0; });
  return std::to_string(duration.count() / unit->second) + std::string(unit->first);
}

bool has_day(const TimesOfDay& times, std::int64_t day) {
  const std::int64_t weekday = ((day + 3) % 7 + 7) % 7;  // 1970-01-01 was a Thursday
  return (times.days >> static_cast<unsigned>(weekday) & 1U) != 0;
}

/// `unclear`: the answer if the times cannot be read, or this machine does not know the time zone.
bool is_within(const Json& during, UnixMillis time, bool unclear) {
  const auto read = read_times(during);
  const auto zone = read ? TimeZone::find(read->zone) : fail(read.error());
  if (!zone) return unclear;
  const TimesOfDay& times = *read;
  const std::int64_t shifted = time.value + std::int64_t{1'000} * (*zone)->offset_at(time);
  const auto minutes = std::chrono::floor<std::chrono::minutes>(Millis{shifted}).count();
  const std::int64_t day = std::chrono::floor<std::chrono::days>(Millis{shifted}).count();
  const std::int64_t minute = minutes - day * kDay;
  if (times.from < times.to) return minute >= times.from && minute < times.to && has_day(times, day);
  return (minute >= times.from && has_day(times, day)) || (minute < times.to && has_day(times, day - 1));
}

bool counts(const PolicyRule& rule, const StartedCall& call, const State& at) {
  if (!names_tool(rule, call.tool)) return false;
  if (rule.when.empty() || call.arguments.empty()) return true;
  const ToolSpec* const tool = at.agent ? at.agent->find_tool(call.tool) : nullptr;
  return tests_hold(rule, tool != nullptr ? tool->definition : ToolDefinition{},
                    parse_json(call.arguments).value_or(nullptr), false);
}

/// The calls that the rule counts, newest first.
std::vector<GivenCalls> calls_of(const PolicyRule& rule, const State& at) {
  constexpr std::int64_t kEver = std::numeric_limits<std::int64_t>::min();
  const std::int64_t since = rule.per.count() > 0 ? at.time.value - rule.per.count() : kEver;
  std::vector<GivenCalls> calls;
  for (const GivenCalls& given : rule.given) {
    if (given.first.value > since) calls.push_back(given);
  }
  for (const StartedCall& call : at.started) {
    if (call.time.value > since && counts(rule, call, at)) calls.push_back({call.time, call.calls});
  }
  std::ranges::sort(calls, std::ranges::greater{}, &GivenCalls::first);
  return calls;
}

std::uint64_t number_of(const std::vector<GivenCalls>& calls) {
  std::uint64_t sum = 0;
  for (const GivenCalls& each : calls) sum += each.second;
  return sum;
}

bool is_reached(const PolicyRule& rule, const State& at) {
  return number_of(calls_of(rule, at)) >= *rule.calls;
}

std::string times_text(const Json& during) {
  const TimesOfDay times = read_times(during).value_or(TimesOfDay{});
  std::string days;
  for (std::size_t i = 0; times.days != 0x7f && i < kDays.size(); ++i) {
    if ((times.days >> i & 1U) != 0) days.append(kDays[i]).append(" ");
  }
  return days + clock_text(times.from) + '-' + clock_text(times.to) + " (" + times.zone + ')';
}

Json times_json(const TimesOfDay& times) {
  JsonObject during{{"from", clock_text(times.from)}, {"to", clock_text(times.to)}};
  if (times.days != 0x7f) {
    JsonArray& days = during["days"].emplace_array();
    for (std::size_t i = 0; i < kDays.size(); ++i) {
      if ((times.days >> i & 1U) != 0) days.emplace_back(kDays[i]);
    }
  }
  during["zone"] = times.zone;
  return during;
}

}  // namespace

Status read_conditions(const Json& json, PolicyRule& rule) {
  if (const Json& during = json_at(json, "during"); !during.is_null()) {
    const auto times = read_times(during);
    if (!times) return fail(times.error());
    rule.during = times_json(*times);
  }
  const bool may_run = rule.kind == RuleKind::kAllow;
  const char* const key = may_run ? "at_most" : "after";
  if (!json_at(json, may_run ? "after" : "at_most").is_null())
    return bad_condition("a rule that allows has \"at_most\", and one that asks or denies has \"after\"");
  if (const Json& count = json_at(json, key); !count.is_null()) {
    const auto read = read_count(key, count);
    if (!read) return fail(read.error());
    rule.calls = read->calls;
    rule.per = read->per;
  }
  return read_given_calls(json_at(json, "given"), rule);
}

void write_conditions(JsonObject& out, const PolicyRule& rule) {
  if (!rule.during.is_null()) out["during"] = rule.during;
  if (rule.calls) {
    JsonObject count{{"calls", *rule.calls}};
    if (rule.per.count() > 0) count["per"] = duration_text(rule.per);
    out[rule.kind == RuleKind::kAllow ? "at_most" : "after"] = std::move(count);
  }
  for (const GivenCalls& each : rule.given) {
    Json& given = out["given"];
    if (!given.is_array()) given = JsonArray{};
    given.get_array().push_back(JsonObject{{"time", each.first.value}, {"calls", each.second}});
  }
}

bool has_conditions(const PolicyRule& rule) { return !rule.during.is_null() || rule.calls.has_value(); }

bool any_conditions(const PolicyRules& rules) { return std::ranges::any_of(rules.rules, has_conditions); }

bool applies_at(const PolicyRule& rule, const State* at) {
  const bool may_run = rule.kind == RuleKind::kAllow;
  if (!has_conditions(rule)) return true;
  if (at == nullptr) return may_run;
  if (!rule.during.is_null() && !is_within(rule.during, at->time, !may_run)) return false;
  return !rule.calls || is_reached(rule, *at) != may_run;
}

bool is_used_up(const PolicyRule& rule, const ToolDefinition& tool, const Json& arguments, const State* at) {
  if (at == nullptr || !rule.calls || rule.kind != RuleKind::kAllow || !names_tool(rule, tool.name))
    return false;
  if (!rule.during.is_null() && !is_within(rule.during, at->time, true)) return false;
  return tests_hold(rule, tool, arguments, false) && is_reached(rule, *at);
}

int strictness(const Permission& permission) {
  if (std::holds_alternative<Deny>(permission)) return 2;
  return std::holds_alternative<NeedsApproval>(permission) ? 1 : 0;
}

std::string condition_text(const PolicyRule& rule) {
  std::string text;
  if (rule.calls) {
    const std::string calls = std::to_string(*rule.calls);
    text += rule.kind == RuleKind::kAllow ? " at most " + calls + " times" : " after " + calls + " calls";
    if (rule.per.count() > 0) text += " in " + duration_text(rule.per);
  }
  return rule.during.is_null() ? text : text + ' ' + times_text(rule.during);
}

std::vector<std::string> conditions_at(const PolicyRules& rules, const std::string& tool, const State& at) {
  std::vector<std::string> lines;
  for (const PolicyRule& rule : rules.rules) {
    if (!names_tool(rule, tool) || !has_conditions(rule)) continue;
    std::string line = "rule " + rule.id + ':';
    if (rule.calls) {
      line += ' ' + std::to_string(number_of(calls_of(rule, at))) + " of " + std::to_string(*rule.calls) +
              " calls" + (rule.per.count() > 0 ? " in " + duration_text(rule.per) : "");
    }
    if (!rule.during.is_null()) {
      line += std::string(rule.calls ? "; " : " ") + to_iso8601(at.time) + " is " +
              (is_within(rule.during, at.time, false) ? "within " : "outside ") + times_text(rule.during);
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

Json counted_below(const Json& policy, const State& state) {
  const JsonArray* const list = json_at(policy, "rules").if_array();
  if (list == nullptr) return policy;
  Json below = policy;
  JsonArray& rules = below.get_object()["rules"].get_array();
  for (Json& each : rules) {
    auto rule = policy_rule_from_json(each);
    if (!rule || !rule->calls) continue;
    std::vector<GivenCalls> calls = calls_of(*rule, state);
    // What a sub-agent needs to know is whether the number is reached.
    std::uint64_t sum = 0;
    const auto enough = std::ranges::find_if(calls, [&](const GivenCalls& given) {
      return std::exchange(sum, sum + given.second) >= *rule->calls;
    });
    calls.erase(enough, calls.end());
    rule->given = std::move(calls);
    each = to_json(*rule);
  }
  return below;
}

}  // namespace praxis
