// Which events a pattern selects: names of this library, and views under the names of other designs.
#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <vector>

#include "praxis/base/suggest.hpp"
#include "praxis/core/event.hpp"

namespace praxis {
namespace {

bool is_of_user(const EventBody& body) {
  return std::get<events::MessageAdded>(body).source == MessageSource::kUser;
}
bool begins_call(const EventBody& body) { return !std::get<events::ToolCallDelta>(body).name.empty(); }
bool has_calls(const EventBody& body) {
  const MessagePtr& message = std::get<events::ModelResponded>(body).message;
  return message && std::ranges::any_of(message->parts, [](const Part& part) {
           return std::holds_alternative<ToolCallPart>(part);
         });
}

/// The names of at most five events.
using FewNames = std::array<std::string_view, 5>;

/// A name of another design: the events that it stands for, and which of them if not all.
struct View {
  std::string_view name;
  FewNames events;
  bool (*when)(const EventBody&) = nullptr;
};

constexpr FewNames kFailures{"turn.failed", "turn.timed_out", "model.failed"};
constexpr FewNames kToolEnds{"tool.completed", "tool.failed", "tool.timed_out"};
constexpr View kViews[] = {
    // agents with providers and streams
    {"message:sent", {"message.added"}, is_of_user},
    {"message:received", {"turn.completed"}},
    {"stream:start", {"turn.started"}},
    {"stream:chunk", {"text.delta"}},
    {"stream:end", {"turn.completed", "turn.failed", "turn.timed_out", "turn.cancelled"}},
    {"tool:called", {"tool.called"}},
    {"tool:result", kToolEnds},
    {"error", kFailures},
    // the agentic loop
    {"execution:start", {"turn.started"}},
    {"execution:complete", {"turn.completed"}},
    {"execution:error", {"turn.failed", "turn.timed_out"}},
    {"execution:paused", {"session.paused"}},
    {"execution:resumed", {"session.unpaused"}},
    {"execution:cancelled", {"turn.cancelled"}},
    {"iteration:start", {"step.started"}},
    {"iteration:complete", {"step.completed"}},
    {"llm:request", {"model.requested"}},
    {"llm:response", {"model.responded"}},
    {"llm:error", {"model.failed"}},
    {"tool:detected", {"model.responded"}, has_calls},
    {"tool:start", {"tool.started"}},
    {"tool:complete", {"tool.completed"}},
    {"tool:error", {"tool.failed"}},
    {"tool:timeout", {"tool.timed_out"}},
    {"hook:error", {"hook.failed"}},
    {"response.created", {"turn.started"}},
    {"response.output_text.delta", {"text.delta"}},
    {"response.tool_call.start", {"tool_call.delta"}, begins_call},
    {"response.tool_call.arguments.delta", {"tool_call.delta"}},
    {"response.tool_call.arguments.done", {"tool.called"}},
    {"response.tool_execution.start", {"tool.started"}},
    {"response.tool_execution.done", kToolEnds},
    {"response.iteration.complete", {"step.completed"}},
    {"response.complete", {"turn.completed"}},
    // plan, act, reflect
    {"step", {"step.started", "step.completed"}},
    {"tool", {"tool.called", "tool.started", "tool.completed", "tool.failed", "tool.timed_out"}},
    {"metrics", {"model.responded", "turn.completed"}},
    {"onStepStart", {"step.started"}},
    {"onModelTokens", {"text.delta"}},
    {"onToolCall", {"tool.called"}},
    {"onError", kFailures},
    // an agent for a terminal
    {"EventTypeError", {"turn.failed"}},
    {"EventTypeCanceled", {"turn.cancelled", "turn.timed_out"}},
    {"EventTypeDoneSuccess", {"turn.completed"}},
    {"EventTypeAssistantText", {"assistant.text"}},
    {"EventTypeAssistantReasoning", {"assistant.reasoning"}},
    {"EventTypeToolCall", {"tool.called"}},
    {"EventTypeToolComplete", kToolEnds},
    {"EventTypeAssistantTurnComplete", {"model.responded"}},
    // the agent tree
    {"text-delta", {"text.delta"}},
    {"tool-call", {"tool.called"}},
    {"agent-state", {"agent.status"}},
};

const View* view_called(std::string_view name) {
  const auto found = std::ranges::find(kViews, name, &View::name);
  return found == std::end(kViews) ? nullptr : found;
}

/// A kind of event, without the content of one.
struct EventKind {
  std::string_view name;  ///< empty for the events of a program, which name themselves
  bool delta = false;
};

/// All kinds, in the order of `EventBody`.
const auto& all_kinds() {
  static const auto kKinds = []<std::size_t... kIndex>(std::index_sequence<kIndex...>) {
    const auto kind = [](const EventBody& body) { return EventKind{event_name(body), is_delta(body)}; };
    return std::array{kind(EventBody(std::in_place_index<kIndex>))...};
  }(std::make_index_sequence<std::variant_size_v<EventBody>>());
  return kKinds;
}

/// Whether an event of this kind may match, with any content; `view` is the one with the pattern's name.
bool may_select(std::string_view pattern, const View* view, const EventKind& kind) {
  if (pattern == "parts") return !kind.delta;
  if (pattern == "deltas") return kind.delta;
  if (pattern.ends_with('*')) return kind.name.starts_with(pattern.substr(0, pattern.size() - 1));
  if (kind.name == pattern) return true;
  return view != nullptr && !kind.name.empty() && std::ranges::count(view->events, kind.name) != 0;
}

/// The names of all events of the library.
const std::vector<std::string>& own_names() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names;
    for (const EventKind& kind : all_kinds()) names.emplace_back(kind.name);
    std::erase(names, "");
    names.emplace_back("provider");
    return names;
  }();
  return kNames;
}

/// The part of a name before its first `.` or `:`.
std::string_view family_of(std::string_view name) { return name.substr(0, name.find_first_of(".:")); }

/// Whether only the library gives names that begin like this one.
bool is_of_library(std::string_view name) {
  const auto alike = [&](std::string_view known) { return family_of(known) == family_of(name); };
  return std::ranges::any_of(own_names(), alike) ||
         std::ranges::any_of(kViews, [&](const View& view) { return alike(view.name); });
}

std::optional<std::string> nearest_name(std::string_view name) {
  std::vector<std::string> known = own_names();
  for (const View& view : kViews) known.emplace_back(view.name);
  for (const char* group : {"parts", "deltas"}) known.emplace_back(group);
  return closest(name, known);
}

}  // namespace

bool selects(std::string_view pattern, const EventBody& body) {
  const EventKind kind{event_name(body), is_delta(body)};
  if (kind.name == pattern) return true;  // a view never has the name of an event
  const View* view = view_called(pattern);
  if (!may_select(pattern, view, kind)) return false;
  return view == nullptr || view->when == nullptr || view->when(body);
}

EventKinds kinds_of(std::string_view pattern) {
  const View* view = view_called(pattern);
  EventKinds kinds;
  std::size_t index = 0;
  for (const EventKind& kind : all_kinds()) kinds.set(index++, may_select(pattern, view, kind));
  return kinds;
}

Status check_event_name(std::string_view name) {
  const std::string quoted = '"' + std::string(name) + '"';
  if (name.empty() || name.find_first_of("*: ") != std::string_view::npos)
    return fail(ErrorCode::kInput,
                quoted +
                    " cannot be the name of an event: it must be non-empty, without \"*\", "
                    "\":\" and spaces");
  const auto meant = nearest_name(name);
  if (meant)
    return fail(ErrorCode::kInput, quoted + " is too close to the library's event \"" + *meant + '"');
  if (is_of_library(name))
    return fail(ErrorCode::kInput, "names that begin with \"" + std::string(family_of(name)) +
                                       "\" are those of the library; " + quoted +
                                       " cannot be a program's own");
  return {};
}

Status check_pattern(std::string_view pattern) {
  if (!pattern.empty() && (kinds_of(pattern).any() || pattern == "provider")) return {};
  const std::string_view name = pattern.ends_with('*') ? pattern.substr(0, pattern.size() - 1) : pattern;
  if (check_event_name(name.ends_with('.') ? name.substr(0, name.size() - 1) : name)) return {};
  const auto meant = nearest_name(name);
  return fail(ErrorCode::kInput,
              "no event is called \"" + std::string(pattern) + '"' +
                  (meant ? "; did you mean \"" + *meant + "\"?" : "; docs/events.md lists them"));
}

}  // namespace praxis
