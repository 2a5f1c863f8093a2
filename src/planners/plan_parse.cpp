// Parses the JSON of a plan into checked steps. Refuses every error that can be found before the run.
#include <algorithm>
#include <array>
#include <utility>

#include "planners/written_step.hpp"
#include "praxis/base/suggest.hpp"

namespace praxis {
namespace {

constexpr std::array<std::string_view, 7> kVerbs{"tool",     "tools",  "message", "ask",
                                                 "sleep_ms", "finish", "fail"};
constexpr std::array<std::string_view, 5> kOtherKeys{"id", "when", "on_error", "input", "for_each"};
constexpr std::array<std::string_view, 3> kFields{"ok", "text", "value"};

std::unexpected<Error> bad(std::string what) { return fail(ErrorCode::kInput, std::move(what)); }

std::string quoted(std::string_view name) { return '"' + std::string(name) + '"'; }

bool is_one_of(const auto& names, std::string_view name) {
  return std::ranges::find(names, name) != std::ranges::end(names);
}

std::string did_you_mean(std::string_view name, const std::vector<std::string>& candidates) {
  const auto meant = closest(name, candidates);
  return meant ? "; did you mean " + quoted(*meant) + "?" : "";
}

template <std::size_t N>
std::vector<std::string> strings(const std::array<std::string_view, N>& names) {
  return {names.begin(), names.end()};
}

class StepParser {
 public:
  StepParser(std::size_t number, const std::vector<std::string>& earlier)
      : number_(number), earlier_(earlier) {}

  Result<WrittenStep> parse(const Json& json) {
    if (!json.is_object())
      return bad(where() + ": a step is a table, such as {tool = \"file_read\", input = {...}}");
    json_ = &json;
    auto step = parse_parts();
    if (!step) return bad(where() + ": " + step.error().message);
    return step;
  }

 private:
  std::string where() const {
    return "plan step " + std::to_string(number_) + (id_.empty() ? "" : " (" + quoted(id_) + ")");
  }
  const Json& at(std::string_view key) const { return json_at(*json_, key); }
  bool has(std::string_view key) const { return json_->get_object().contains(key); }

  Result<WrittenStep> parse_parts() {
    if (auto done = parse_id(); !done) return fail(done.error());
    if (auto done = check_keys(); !done) return fail(done.error());
    WrittenStep step;
    step.id = id_;
    const std::string on_error = has("on_error") ? json_string(*json_, "on_error") : "stop";
    if (on_error != "stop" && on_error != "continue")
      return bad("\"on_error\" must be \"stop\" or \"continue\"");
    step.continue_on_error = on_error == "continue";
    if (has("when")) {
      auto when = parse_condition(at("when"));
      if (!when) return fail(when.error());
      if (auto known = check_reference(when->value, false); !known) return fail(known.error());
      step.when = *std::move(when);
    }
    if (auto done = parse_verb(step); !done) return fail(done.error());
    return step;
  }

  Status parse_id() {
    const std::string id = has("id") ? json_string(*json_, "id") : "step" + std::to_string(number_);
    const auto allowed = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
             c == '-';
    };
    if (id.empty() || id.size() > 48 || !std::ranges::all_of(id, allowed)) {
      return bad("\"id\" must be 1 to 48 letters, digits, '_' or '-'");
    }
    if (is_one_of(earlier_, id)) return bad("the id " + quoted(id) + " is taken by an earlier step");
    id_ = id;
    return {};
  }

  Status check_keys() {
    std::vector<std::string> known = strings(kVerbs);
    for (const std::string_view key : kOtherKeys) known.emplace_back(key);
    for (const auto& [key, value] : json_->get_object()) {
      if (!is_one_of(known, key)) {
        return bad("unknown key " + quoted(key) + did_you_mean(key, known));
      }
      if (!is_one_of(kVerbs, key)) continue;
      if (!verb_.empty())
        return bad("it has both " + quoted(verb_) + " and " + quoted(key) + "; split it in two");
      verb_ = key;
    }
    if (verb_.empty()) return bad("it needs one of tool, tools, message, ask, sleep_ms, finish and fail");
    for (const std::string_view key : {"input", "for_each"}) {
      if (has(key) && verb_ != "tool") return bad(quoted(key) + " goes with \"tool\" only");
    }
    return {};
  }

  Status parse_verb(WrittenStep& step) {
    if (verb_ == "tool") return parse_call_one(step);
    if (verb_ == "tools") return parse_call_all(step);
    if (verb_ == "sleep_ms") {
      const auto* delay = at(verb_).if_int64();
      if (delay == nullptr || *delay < 0)
        return bad("\"sleep_ms\" must be a non-negative integer (milliseconds)");
      step.verb = Sleep{Millis{*delay}};
      return {};
    }
    if (!at(verb_).is_string()) return bad(quoted(verb_) + " must be a string");
    if (auto known = check_references(at(verb_), false); !known) return known;
    const std::string text = json_string(*json_, verb_);
    if (verb_ == "message") step.verb = SayText{text};
    if (verb_ == "ask") step.verb = AskText{text};
    if (verb_ == "finish") step.verb = End{StopReason::kFinished, text};
    if (verb_ == "fail") step.verb = End{StopReason::kPlanFailed, text};
    return {};
  }

  Status parse_call_one(WrittenStep& step) {
    CallOne one;
    if (has("for_each")) {
      one.for_each = at("for_each");
      const auto* text = one.for_each.if_string();
      const auto parsed = text ? parse_template(*text) : Template{};
      if (!one.for_each.is_array() && (!parsed || parsed->only_reference() == nullptr)) {
        return bad("\"for_each\" must be an array or one placeholder such as \"${steps.list.value}\"");
      }
      if (auto known = check_references(one.for_each, false); !known) return known;
    }
    auto call = parse_call(*json_, has("for_each"));
    if (!call) return fail(call.error());
    one.call = *std::move(call);
    step.verb = std::move(one);
    return {};
  }

  Status parse_call_all(WrittenStep& step) {
    const auto* items = at("tools").if_array();
    if (items == nullptr || items->empty()) return bad("\"tools\" must be an array of {tool, input}");
    CallAll all;
    for (const Json& item : *items) {
      if (!item.is_object()) return bad("\"tools\" must be an array of {tool, input}");
      for (const auto& [key, value] : item.get_object()) {
        if (key == "tool" || key == "input") continue;
        return bad("\"tools\" has an unknown key " + quoted(key) + did_you_mean(key, {"tool", "input"}));
      }
      auto call = parse_call(item, false);
      if (!call) return fail(call.error());
      all.calls.push_back(*std::move(call));
    }
    step.verb = std::move(all);
    return {};
  }

  Result<WrittenCall> parse_call(const Json& json, bool in_loop) const {
    WrittenCall call{json_string(json, "tool"), json_at(json, "input")};
    if (call.tool.empty()) return bad("\"tool\" must be the name of a tool");
    if (!json.get_object().contains("input")) call.input = JsonObject{};
    if (!call.input.is_object()) return bad("\"input\" must be a table of arguments");
    if (auto known = check_references(call.input, in_loop); !known) return fail(known.error());
    return call;
  }

  Status check_references(const Json& json, bool in_loop) const {
    auto references = references_of(json);
    if (!references) return fail(references.error());
    for (const Reference& reference : *references) {
      if (auto known = check_reference(reference, in_loop); !known) return known;
    }
    return {};
  }

  /// Checks that a reference begins with a name that is known at this step.
  Status check_reference(const Reference& reference, bool in_loop) const {
    const std::string shown = "${" + reference.text + "}";
    const auto name = [&](std::size_t part) -> const std::string* {
      return part < reference.path.size() ? std::get_if<std::string>(&reference.path[part]) : nullptr;
    };
    const std::string& root = *name(0);
    if (root == "prompt") return {};
    if (root == "item" || root == "index") {
      return in_loop ? Status{} : bad(shown + " is known in the input of a step with \"for_each\" only");
    }
    if (root != "steps")
      return bad(shown + " is unknown" + did_you_mean(root, {"prompt", "steps", "item", "index"}));
    const std::string* step = name(1);
    if (step == nullptr) return bad(shown + " names no step; write ${steps.<id>.text}");
    if (!is_one_of(earlier_, *step)) {
      return bad(shown + ": no earlier step is called " + quoted(*step) + did_you_mean(*step, earlier_));
    }
    const std::string* field = name(2);
    if (field == nullptr || !is_one_of(kFields, *field)) {
      return bad(shown + ": a step has ok, text and value" +
                 (field ? did_you_mean(*field, strings(kFields)) : ""));
    }
    return {};
  }

  std::size_t number_;
  const std::vector<std::string>& earlier_;
  const Json* json_ = nullptr;
  std::string id_;
  std::string verb_;
};

}  // namespace

Result<std::vector<WrittenStep>> parse_plan(const Json& plan) {
  const auto* items = plan.if_array();
  if (items == nullptr || items->empty()) return bad("a plan is an array of at least one step");
  std::vector<WrittenStep> steps;
  std::vector<std::string> ids;
  for (const Json& item : *items) {
    auto step = StepParser{steps.size() + 1, ids}.parse(item);
    if (!step) return fail(step.error());
    ids.push_back(step->id);
    steps.push_back(*std::move(step));
  }
  return steps;
}

}  // namespace praxis
