// A journal whose inboxes are kept elsewhere, such as in a message queue.
#pragma once

#include <memory>

#include "praxis/journal/journal.hpp"

#pragma GCC visibility push(default)
namespace praxis {

/// Returns a journal with the logs of `journal` and the inboxes of `inbox`. The inbox of a journal answers a
/// message in the transaction that carries it out; this one answers after the entries are durable, on the
/// journal's thread. If the process dies in between, or the inbox fails, the message stays unanswered and the
/// next owner of the session carries it out again. Thread-safe if both are.
std::shared_ptr<Journal> with_inbox(std::shared_ptr<Journal> journal, std::shared_ptr<Inbox> inbox);

}  // namespace praxis
#pragma GCC visibility pop
