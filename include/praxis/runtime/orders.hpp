// What somebody who does not own a session may order it to do: the order, its form as mail, and how to have
// it carried out whoever owns the session.
#pragma once

#include <chrono>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "praxis/base/environment.hpp"
#include "praxis/core/records.hpp"
#include "praxis/journal/journal.hpp"
#include "praxis/policy/policy.hpp"

namespace praxis {

/// One act on a session. Only what people do from outside: interrupt, pause, resume, steer, enqueue,
/// annotate, delete, modify.
struct Act {
  Intervention kind = Intervention::kAnnotate;
  std::string text = {};
};
/// Carried out together or not at all.
using Acts = std::vector<Act>;
/// A decision on a step that is parked in the session; `Ask` is the answer to a question.
struct Ruling {
  ParkId park;  ///< `p1`, or qualified by the session: `<session>/p1`
  Verdict verdict;
  std::string by = "person";
};
using Order = std::variant<Acts, Ruling>;

inline constexpr std::size_t kMaxActs = 8;  ///< of one order

/// `{"acts": [{"verb": "steer", "text": "..."}]}` or `{"park": "p1", "verb": "edit", "text": "...", "by":
/// "person"}`. Verbs are `stop, pause, resume, steer, enqueue, annotate, delete, modify` and `allow, deny,
/// edit, answer`.
Json to_json(const Order& order);
/// Error `kInput` says which key is wrong.
Result<Order> order_from_json(const Json& json);

/// What became of an order.
struct Delivered {};
struct Refused {
  std::string reason;
};
/// Nobody has answered yet: whoever opens the session next, or owns it and is busy, will find it.
struct Queued {};
using OrderAnswer = std::variant<Delivered, Refused, Queued>;

/// Leaves an order for whoever owns the session, now or later. Errors as `Journal::post`.
Result<MailId> send_order(Journal& journal, Environment& environment, const SessionId& session,
                          const Order& order);
/// Waits for the answer, at most `patience` or until `stop`. Error as `Journal::outcome`.
Result<OrderAnswer> wait_for_answer(Journal& journal, MailId mail, std::chrono::milliseconds patience,
                                    std::stop_token stop = {});
/// Has an order carried out: written to the session's log when nobody owns it, else sent to its owner, whose
/// answer is waited for; an owner that goes away without one leaves it to us. Errors `kInput` (unknown
/// session), `kJournal`.
Result<OrderAnswer> give_order(Journal& journal, Environment& environment, const SessionId& session,
                               const Order& order,
                               std::chrono::milliseconds patience = std::chrono::seconds{2},
                               std::stop_token stop = {});

}  // namespace praxis
