#include "server/a2a_request.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/ascii.hpp"
#include "praxis/base/dates.hpp"
#include "server/a2a_errors.hpp"

namespace praxis::server {
namespace {

constexpr std::size_t kLongestId = 255, kLongestHeader = 4096, kMostParts = 1000, kMostPageSize = 100;
constexpr std::int64_t kMostHistory = 1'000'000;
constexpr std::array<std::string_view, 8> kStates{
    "TASK_STATE_SUBMITTED", "TASK_STATE_WORKING",  "TASK_STATE_COMPLETED",      "TASK_STATE_FAILED",
    "TASK_STATE_CANCELED",  "TASK_STATE_REJECTED", "TASK_STATE_INPUT_REQUIRED", "TASK_STATE_AUTH_REQUIRED"};

/// A text of at most `most` bytes.
Result<std::string> text_member(const Json& object, const std::string& where, std::string_view key,
                                bool is_required, std::size_t most) {
  const std::string field = where + std::string(key);
  const Json& value = json_at(object, key);
  if (!value.is_null() && !value.is_string()) return fail(field_error(field, "must be a string"));
  std::string text = json_string(object, key);
  if (is_required && text.empty()) return fail(field_error(field, "is missing"));
  if (text.size() > most)
    return fail(field_error(field, "is longer than " + std::to_string(most) + " bytes"));
  return text;
}

Result<std::string> id_member(const Json& object, const std::string& where, std::string_view key,
                              bool is_required) {
  return text_member(object, where, key, is_required, kLongestId);
}

/// A text that can be in a header of HTTP.
Result<std::string> header_text(const Json& object, const std::string& where, std::string_view key,
                                bool is_required) {
  auto text = text_member(object, where, key, is_required, kLongestHeader);
  if (text && std::ranges::any_of(*text, [](char c) { return c < ' ' || c > '~'; }))
    return fail(field_error(where + std::string(key), "must be visible ASCII characters"));
  return text;
}

/// A part with data that decides a step: `{step, decision, text?, arguments?}`.
Result<ClientDecision> decision_in(const Json& data, const std::string& field) {
  const auto verb = approval_verb_from(json_text(data, "decision"));
  if (!verb)
    return fail(field_error(field + ".decision",
                            "must be one of the decisions of the step: allow, deny, edit, answer"));
  ClientDecision decision{.step = json_string(data, "step"),
                          .approves = *verb != ApprovalVerb::kReject,
                          .text = json_string(data, "text")};
  const Json& answer = json_at(data, "answer");
  if (*verb == ApprovalVerb::kAnswer && !answer.is_null()) decision.text = to_plain_text(answer);
  const Json& arguments = json_at(data, "arguments");
  if (*verb == ApprovalVerb::kEdit) {
    if (!arguments.is_object())
      return fail(field_error(field + ".arguments", "must be the object with which the call is to run"));
    decision.arguments = to_json_text(arguments);
  }
  return decision;
}

Status read_part(const Json& part, const std::string& field, A2aMessage& message) {
  constexpr std::array<std::string_view, 4> kContents{"text", "raw", "url", "data"};
  const auto is_there = [&](std::string_view key) {
    return part.is_object() && part.get_object().contains(key);
  };
  if (std::ranges::count_if(kContents, is_there) != 1)
    return fail(field_error(field, "must have one of text, raw, url and data"));
  if (is_there("raw") || is_there("url"))
    return fail(a2a_error("CONTENT_TYPE_NOT_SUPPORTED", "files are not supported here: send text or data")
                    .set("field", field));
  if (is_there("text")) {
    if (!json_at(part, "text").is_string()) return fail(field_error(field + ".text", "must be a string"));
    if (!message.text.empty()) message.text += '\n';
    message.text += json_string(part, "text");
    return {};
  }
  const Json& data = json_at(part, "data");
  if (!json_text(data, "step").empty()) {
    auto decision = decision_in(data, field + ".data");
    if (!decision) return fail(decision.error());
    message.decisions.push_back(*std::move(decision));
    return {};
  }
  if (!message.text.empty()) message.text += '\n';
  message.text += to_json_text(data);
  return {};
}

Status read_configuration(const Json& params, A2aMessage& message) {
  const Json& configuration = json_at(params, "configuration");
  if (!configuration.is_null() && !configuration.is_object())
    return fail(field_error("configuration", "must be an object"));
  if (const Json& push = json_at(configuration, "taskPushNotificationConfig"); !push.is_null()) {
    auto address = read_a2a_push(push, std::string(kPushMember) + ".");
    if (!address) return fail(address.error());
    message.push = *std::move(address);
  }
  const auto history = read_a2a_history(configuration, "configuration.");
  if (!history) return fail(history.error());
  message.history = *history;
  const Json& immediately = json_at(configuration, "returnImmediately");
  if (!immediately.is_null() && !immediately.is_bool())
    return fail(field_error("configuration.returnImmediately", "must be true or false"));
  message.returns_immediately = json_bool(configuration, "returnImmediately");
  return {};
}

}  // namespace

Result<A2aMessage> read_a2a_message(const Json& params) {
  const Json& given = json_at(params, "message");
  if (!given.is_object()) return fail(field_error("message", "must be an object"));
  A2aMessage message;
  auto id = id_member(given, "message.", "messageId", true),
       task = id_member(given, "message.", "taskId", false),
       context = id_member(given, "message.", "contextId", false);
  for (const auto* each : {&id, &task, &context}) {
    if (!*each) return fail(each->error());
  }
  message.id = *std::move(id);
  message.task = *std::move(task);
  message.context = *std::move(context);
  if (json_text(given, "role") != "ROLE_USER") return fail(field_error("message.role", "must be ROLE_USER"));
  const auto* parts = json_at(given, "parts").if_array();
  if (parts == nullptr || parts->empty() || parts->size() > kMostParts)
    return fail(field_error("message.parts", "must be a list of 1 to 1000 parts"));
  for (std::size_t i = 0; i < parts->size(); ++i) {
    if (auto read = read_part((*parts)[i], "message.parts[" + std::to_string(i) + "]", message); !read)
      return fail(read.error());
  }
  if (message.text.empty() && message.decisions.empty())
    return fail(field_error("message.parts", "must have a text that is not empty"));
  if (auto read = read_configuration(params, message); !read) return fail(read.error());
  return message;
}

Result<std::optional<std::size_t>> read_a2a_history(const Json& params, const std::string& where) {
  const Json& value = json_at(params, "historyLength");
  if (value.is_null()) return std::optional<std::size_t>();
  const std::int64_t number = json_int(params, "historyLength", -1);
  if (number < 0 || number > kMostHistory)
    return fail(field_error(where + "historyLength", "must be a number that is not negative"));
  return std::optional<std::size_t>(static_cast<std::size_t>(number));
}

Result<std::string> read_a2a_task(const Json& params) { return read_a2a_id(params, "id"); }

Result<std::string> read_a2a_id(const Json& params, std::string_view key) {
  return id_member(params, "", key, true);
}

Result<app::PushAddress> read_a2a_push(const Json& config, const std::string& where) {
  if (!config.is_object())
    return fail(field_error(where.substr(0, where.empty() ? 0 : where.size() - 1), "must be an object"));
  app::PushAddress address;
  const Json& authentication = json_at(config, "authentication");
  if (!authentication.is_null() && !authentication.is_object())
    return fail(field_error(where + "authentication", "must be an object"));
  const bool has_scheme = !authentication.is_null();
  struct Member {
    const Json& object;
    std::string_view key;
    bool is_required;
    std::string& text;
  };
  for (const Member& member :
       {Member{config, "id", false, address.id}, Member{config, "url", true, address.url},
        Member{config, "token", false, address.token},
        Member{authentication, "scheme", has_scheme, address.scheme},
        Member{authentication, "credentials", has_scheme, address.credentials}}) {
    const bool is_inner = &member.object == &authentication;
    auto read = header_text(member.object, where + (is_inner ? "authentication." : ""), member.key,
                            member.is_required);
    if (!read) return fail(read.error());
    member.text = *std::move(read);
  }
  if (address.scheme.contains(' '))
    return fail(field_error(where + "authentication.scheme", "must be one word, such as Bearer"));
  return address;
}

Result<A2aList> read_a2a_list(const Json& params) {
  A2aList list;
  auto context = id_member(params, "", "contextId", false), state = id_member(params, "", "status", false),
       token = id_member(params, "", "pageToken", false),
       after = id_member(params, "", "statusTimestampAfter", false);
  for (const auto* each : {&context, &state, &token, &after}) {
    if (!*each) return fail(each->error());
  }
  list.context = *std::move(context);
  list.state = *std::move(state);
  list.page_token = *std::move(token);
  const bool is_any = list.state.empty() || list.state == "TASK_STATE_UNSPECIFIED";
  if (!is_any && std::ranges::find(kStates, list.state) == kStates.end())
    return fail(field_error("status", "is no state of a task, such as TASK_STATE_WORKING"));
  if (is_any) list.state.clear();
  const std::int64_t size = json_int(params, "pageSize", json_at(params, "pageSize").is_null() ? 50 : 0);
  if (size < 1 || size > static_cast<std::int64_t>(kMostPageSize))
    return fail(field_error("pageSize", "must be a number from 1 to 100"));
  list.page_size = static_cast<std::size_t>(size);
  const auto history = read_a2a_history(params);
  if (!history) return fail(history.error());
  list.history = *history;
  if (!after->empty()) {
    const auto time = from_iso8601(*after);
    if (!time)
      return fail(field_error("statusTimestampAfter", "must be a time such as 2026-01-31T10:00:00Z"));
    list.after = *time;
  }
  list.with_artifacts = json_bool(params, "includeArtifacts");
  return list;
}

std::optional<ClientDecision> a2a_decision(const std::string& step, const std::string& text) {
  const std::size_t end = std::min(text.find_first_of(" :,.\n"), text.size());
  const std::string word = lower_case(std::string_view(text).substr(0, end));
  if ((word == "allow" || word == "approve" || word == "yes") &&
      text.find_first_not_of(" .!\n", end) == text.npos)
    return ClientDecision{.step = step, .approves = true, .text = {}};
  if (word != "deny" && word != "reject" && word != "no") return std::nullopt;
  const std::size_t reason = text.find_first_not_of(" :,.\n", end);
  return ClientDecision{
      .step = step, .approves = false, .text = reason == text.npos ? std::string() : text.substr(reason)};
}

}  // namespace praxis::server
