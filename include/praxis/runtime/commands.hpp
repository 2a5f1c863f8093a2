// Sends commands and approvals to a session from outside, also from a process that does not own it: the form
// of a request in the session's inbox, and its delivery to the owner.
#pragma once

#include <chrono>
#include <stop_token>
#include <string>
#include <variant>

#include "praxis/base/environment.hpp"
#include "praxis/domain/command.hpp"
#include "praxis/journal/journal.hpp"
#include "praxis/json/json.hpp"

#pragma GCC visibility push(default)
namespace praxis {

/// `{"commands": [{"verb": "steer", "text": "...", "surface": "library"}]}` or `{"park": "p1", "verb":
/// "edit", "text": "...", "by": "person", "surface": "cli"}`; `by` and `surface` are the author. Verbs are
/// `interrupt, pause, unpause, steer, enqueue, annotate, delete, modify, withdraw, move, compact` and `allow,
/// deny, edit, answer`. The target is not part of it: a message has one.
Json to_json(const InboxRequest& request);
/// Also reads the older form: `acts` for `commands`, in them `stop` for `interrupt` and
/// `resume` for `unpause`. Error `kInput` names the wrong key.
Result<InboxRequest> request_from_json(const Json& json, const SessionId& target);

/// The outcome of a request.
struct Delivered {};
struct Refused {
  std::string reason;
};
/// The owner has not answered in time; the request stays in the inbox for it, or for the next owner.
struct Queued {};
using Delivery = std::variant<Delivered, Refused, Queued>;

/// Posts a request to its target's inbox. Errors as `Inbox::post`; `kInput` for commands that callers cannot
/// send, more than `kMaxCommands`, or several targets.
Result<InboxId> post_request(Inbox& inbox, Environment& environment, const InboxRequest& request);
/// Waits for the answer, at most `patience` or until `stop`. Error as `Inbox::outcome`.
Result<Delivery> wait_for_delivery(Inbox& inbox, InboxId message, std::chrono::milliseconds patience,
                                   std::stop_token stop = {});
/// Delivers a request: writes it to the session's log when no process owns the session, else posts it to the
/// owner and waits for the answer. When the owner ends without an answer, writes to the log after all. Errors
/// `kInput` (unknown session; as `post_request`), `kJournal`.
Result<Delivery> deliver(Journal& journal, Environment& environment, const InboxRequest& request,
                         std::chrono::milliseconds patience = std::chrono::seconds{2},
                         std::stop_token stop = {});

}  // namespace praxis
#pragma GCC visibility pop
