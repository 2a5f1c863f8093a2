// Orders as mail: their JSON form, and the side that sends them.
#include <algorithm>
#include <array>
#include <condition_variable>
#include <mutex>

#include "logs/log_writer.hpp"
#include "praxis/json/json.hpp"
#include "praxis/runtime/orders.hpp"
#include "runtime/mail.hpp"
#include "runtime/rulings.hpp"

namespace praxis {
namespace {

using ActName = std::pair<std::string_view, Intervention>;
constexpr std::array<ActName, 8> kActNames{{{"stop", Intervention::kInterrupt},
                                            {"pause", Intervention::kPause},
                                            {"resume", Intervention::kResume},
                                            {"steer", Intervention::kSteer},
                                            {"enqueue", Intervention::kEnqueue},
                                            {"annotate", Intervention::kAnnotate},
                                            {"delete", Intervention::kDelete},
                                            {"modify", Intervention::kModify}}};

std::unexpected<Error> bad(const std::string& what) { return fail(ErrorCode::kInput, "an order " + what); }

struct VerdictJson {
  JsonObject operator()(const Allow&) const { return {{"verb", to_string(Verb::kAllow)}}; }
  JsonObject operator()(const Deny& v) const { return said(Verb::kDeny, v.reason); }
  JsonObject operator()(const Edit& v) const { return said(Verb::kEdit, v.arguments); }
  JsonObject operator()(const Ask& v) const { return said(Verb::kAnswer, v.reason); }
  static JsonObject said(Verb verb, const std::string& text) {
    return {{"verb", to_string(verb)}, {"text", text}};
  }
};

struct OrderJson {
  JsonObject operator()(const Acts& acts) const {
    JsonArray list;
    for (const Act& act : acts) {
      JsonObject item{{"verb", std::ranges::find(kActNames, act.kind, &ActName::second)->first}};
      if (!act.text.empty()) item["text"] = act.text;
      list.push_back(std::move(item));
    }
    return {{"acts", std::move(list)}};
  }
  JsonObject operator()(const Ruling& ruling) const {
    JsonObject out = std::visit(VerdictJson{}, ruling.verdict);
    out["park"] = ruling.park.str();
    out["by"] = ruling.by;
    return out;
  }
};

Result<Order> acts_from_json(const JsonArray& list) {
  if (list.empty() || list.size() > kMaxActs)
    return bad("has 1 to " + std::to_string(kMaxActs) + " acts, not " + std::to_string(list.size()));
  Acts acts;
  for (const Json& item : list) {
    const auto name = std::ranges::find(kActNames, json_text(item, "verb"), &ActName::first);
    if (name == kActNames.end()) return bad("has no verb \"" + json_string(item, "verb") + "\"");
    acts.push_back({name->second, json_string(item, "text")});
  }
  return acts;
}

Result<Order> ruling_from_json(const Json& json) {
  Ruling ruling{ParkId{json_string(json, "park")}, allow(), json_string(json, "by", "person")};
  std::string text = json_string(json, "text");
  const auto verb = verb_from(json_string(json, "verb"));
  if (!verb) return bad("has no verb \"" + json_string(json, "verb") + "\"");
  switch (*verb) {
    case Verb::kAllow:
      break;
    case Verb::kDeny:
      ruling.verdict = deny(std::move(text));
      break;
    case Verb::kEdit:
      ruling.verdict = edit(std::move(text));
      break;
    case Verb::kAnswer:
      ruling.verdict = ask(std::move(text));
      break;
  }
  return ruling;
}

Status check_sendable(const Order& order) {
  const auto* acts = std::get_if<Acts>(&order);
  if (acts == nullptr) return {};
  if (acts->empty() || acts->size() > kMaxActs)
    return bad("has 1 to " + std::to_string(kMaxActs) + " acts, not " + std::to_string(acts->size()));
  for (const Act& act : *acts) {
    if (std::ranges::find(kActNames, act.kind, &ActName::second) == kActNames.end())
      return bad("cannot be \"" + std::string(to_string(act.kind)) + "\"");
  }
  return {};
}

/// False when told to stop.
bool wait_a_moment(std::stop_token stop) {
  constexpr std::chrono::milliseconds kMoment{10};
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, stop, kMoment, [] { return false; });
  return !stop.stop_requested();
}

constexpr std::chrono::milliseconds kRound{100};  // in which an owner answers, unless it is busy

std::string_view kind_of(const Error& error) { return json_text(error.detail, "kind"); }

}  // namespace

Json to_json(const Order& order) { return std::visit(OrderJson{}, order); }

Result<Order> order_from_json(const Json& json) {
  if (const auto* acts = json_at(json, "acts").if_array()) return acts_from_json(*acts);
  if (json_at(json, "park").is_string()) return ruling_from_json(json);
  return bad("needs \"acts\" or \"park\"");
}

Result<Order> order_of(const Mail& mail) {
  auto json = parse_json(mail.body);
  if (!json) return bad("is JSON: " + json.error().message);
  return order_from_json(*json);
}

Result<MailId> send_order(Journal& journal, Environment& environment, const SessionId& session,
                          const Order& order) {
  if (auto possible = check_sendable(order); !possible) return fail(possible.error());
  return journal.post(session, to_json_text(to_json(order)), environment.now());
}

Result<OrderAnswer> wait_for_answer(Journal& journal, MailId mail, std::chrono::milliseconds patience,
                                    std::stop_token stop) {
  const auto until = std::chrono::steady_clock::now() + patience;
  do {
    auto outcome = journal.outcome(mail);
    if (!outcome) return fail(outcome.error());
    if (*outcome == kMailOk) return Delivered{};
    if (*outcome) return Refused{**outcome};
  } while (std::chrono::steady_clock::now() < until && wait_a_moment(stop));
  return Queued{};
}

Result<OrderAnswer> give_order(Journal& journal, Environment& environment, const SessionId& session,
                               const Order& order, std::chrono::milliseconds patience, std::stop_token stop) {
  if (auto possible = check_sendable(order); !possible) return fail(possible.error());
  const auto write = [&](std::optional<MailId> letter) {
    const auto records = [&](const State& state) {
      return order_records(state, order, !state.parent.empty() && !state.turn);
    };
    return record_in_log(journal, environment, session, records, letter);
  };
  const auto written = write({});
  if (written) return Delivered{};
  const Error& error = written.error();
  if (kind_of(error) == "not_found")
    return fail(ErrorCode::kInput, "no session is called \"" + session.str() + "\"");
  if (kind_of(error) != "lease_held") {
    if (error.code == ErrorCode::kInput) return Refused{error.message};
    return fail(error);
  }
  auto mail = send_order(journal, environment, session, order);
  if (!mail) return fail(mail.error());
  const auto until = std::chrono::steady_clock::now() + patience;
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    auto answer = wait_for_answer(journal, *mail, std::min(kRound, left), stop);
    const bool queued = answer && std::holds_alternative<Queued>(*answer);
    if (!queued || left <= kRound || stop.stop_requested()) return answer;
    // Its owner may have gone in the meantime, without a look at its mail. Should that fail, the order waits.
    std::ignore = write(*mail);
  }
}

}  // namespace praxis
