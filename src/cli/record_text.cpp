#include "cli/record_text.hpp"

#include <fmt/format.h>

#include "app/plain_text.hpp"
#include "app/values.hpp"
#include "cli/terminal.hpp"

namespace praxis::cli {
namespace {

constexpr std::size_t kWidth = 160;

std::string part_text(const Part& part) {
  if (const auto* text = std::get_if<TextPart>(&part)) return text->text;
  if (const auto* call = std::get_if<ToolCallPart>(&part))
    return fmt::format("[{} {}]", call->name, call->arguments);
  if (const auto* result = std::get_if<ToolResultPart>(&part))
    return fmt::format("[{}: {}]", result->name, result->text);
  if (const auto* refusal = std::get_if<RefusalPart>(&part)) return refusal->text;
  return "";
}

std::string parts_text(const std::vector<Part>& parts) {
  std::string text;
  for (const Part& part : parts) {
    const std::string one = part_text(part);
    if (!one.empty()) text += (text.empty() ? "" : " ") + one;
  }
  return text;
}

struct Words {
  std::string operator()(const records::SessionCreated& r) const {
    const std::string origin =
        r.forked_from.empty() ? "" : fmt::format(", forked from {} at {}", r.forked_from.str(), r.forked_at);
    return fmt::format("{} {}{}", r.agent->id, r.agent->model, origin);
  }
  std::string operator()(const records::TurnStarted& r) const { return r.turn.str(); }
  std::string operator()(const records::MessageAppended& r) const {
    return fmt::format("{}: {}", to_string(r.source), parts_text(r.message->parts));
  }
  std::string operator()(const records::EffectIntended& r) const {
    const std::string again = r.attempt > 1 ? fmt::format(", attempt {}", r.attempt) : "";
    const std::string delay =
        r.delay.count() > 0 ? fmt::format(", after {}", app::show_duration(r.delay)) : "";
    const std::string purpose = r.summary ? ", a summary" : r.consult ? ", " + r.consult->purpose : "";
    const std::string what = r.kind == EffectKind::kTool
                                 ? fmt::format("tool {} ({}", r.tool, r.call.str())
                                 : fmt::format("{} (step {}", to_string(r.kind), r.step);
    return fmt::format("{} {}{}{}{})", r.effect.str(), what, purpose, again, delay);
  }
  std::string operator()(const records::EffectSettled& r) const {
    std::string text =
        fmt::format("{} {} {}", r.effect.str(), to_string(r.outcome), app::show_duration(r.duration));
    if (const auto* response = std::get_if<ModelResponse>(&r.result)) {
      text += fmt::format(", {}: {}", app::show_usage(response->usage), parts_text(response->parts));
    } else if (const auto* tool = std::get_if<ToolOutcome>(&r.result)) {
      text += ": " + tool->result.text;
    }
    return r.error ? text + ": " + r.error->message : text;
  }
  std::string operator()(const records::Parked& r) const {
    return fmt::format("{} {} {} {} {}", r.step.id.str(), to_string(r.step.kind), r.step.tool,
                       r.step.arguments, r.step.prompt);
  }
  std::string operator()(const records::Decided& r) const {
    const std::string& what = r.park.empty() ? r.call.str() : r.park.str();
    return fmt::format("{} {} by {} {}", what, to_string(r.verb), r.author.principal, r.text);
  }
  std::string operator()(const records::Intervened& r) const {
    return fmt::format("{} {}", to_string(r.verb), r.text);
  }
  std::string operator()(const records::Compacted& r) const {
    const std::string instead = r.summary.empty() ? "" : ", and before them: " + r.summary;
    return fmt::format("{}: the model sees messages from {} on{}", r.cause, r.keep_from, instead);
  }
  std::string operator()(const records::StatusChanged& r) const {
    return fmt::format("{} {}", to_string(r.status), r.cause);
  }
  std::string operator()(const records::TurnSettled& r) const {
    const std::string error = r.error ? ": " + r.error->message : "";
    return fmt::format("{} {} {}{}", r.turn.str(), to_string(r.reason), r.text, error);
  }
  std::string operator()(const records::CallProposed& r) const {
    return fmt::format("{} within {}: {} {}", r.call.id.str(), r.within.str(), r.call.name, r.call.arguments);
  }
  std::string operator()(const records::ChildSpawned& r) const {
    return fmt::format("{} {} by {}", r.child.str(), r.agent, r.call.str());
  }
  std::string operator()(const records::SpeakerSet& r) const {
    return fmt::format("{} ({})", r.agent, r.cause);
  }
  std::string operator()(const records::ChildSettled& r) const {
    return fmt::format("{} {}, {}", r.child.str(), to_string(r.reason), app::show_usage(r.usage));
  }
};

}  // namespace

std::string record_text(const RecordBody& body) { return app::one_line(std::visit(Words{}, body), kWidth); }

}  // namespace praxis::cli
