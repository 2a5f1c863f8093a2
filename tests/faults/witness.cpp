#include "witness.hpp"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <algorithm>
#include <future>

#include "journal/chain.hpp"

namespace praxis::faults {
namespace {

constexpr std::size_t kHuge = 4'500'000;  // larger than the log may grow before it is copied

const SessionId kNobody("missing");

std::vector<NewEntry> entries_of(const auto& chain) {
  std::vector<NewEntry> all;
  for (const auto& written : chain) all.insert(all.end(), written.entries.begin(), written.entries.end());
  return all;
}

/// Whether `found` equals what was appended, each entry chained to the one before.
bool same(const SessionId& session, const std::vector<Entry>& found, const std::vector<NewEntry>& appended) {
  if (found.size() != appended.size()) return false;
  Digest previous = chain_start(session);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto& [kind, time, body] = appended[i];
    const Entry& entry = found[i];
    previous = chain_next(previous, i + 1, time, kind, body);
    if (entry.seq != i + 1 || entry.kind != kind || entry.time.value != time.value || entry.body != body ||
        entry.hash != previous)
      return false;
  }
  return true;
}

}  // namespace

std::uint64_t Witness::Known::seq() const { return entries_of(promised).size(); }

// ---- operations

Status Witness::open() {
  auto journal = sqlite_journal(path_);
  if (!journal) return fail(journal.error());
  journal_ = *std::move(journal);
  return {};
}

void Witness::close() {
  closings_ += is_open() ? 1 : 0;
  journal_.reset();
  for (Known& session : sessions_) session.lease.reset();
}

void Witness::settle() { std::ignore = journal_->acquire(kNobody); }

std::string Witness::text(std::size_t size) {
  std::string text = "{\"n\":" + std::to_string(++last_number_) + ",\"text\":\"";
  text.append(size, static_cast<char>('a' + random_.below(26)));
  return text + "\"}";
}

Witness::Written Witness::write_something(bool large) {
  Written written;
  const std::size_t entries = 1 + random_.below(3);
  for (std::size_t i = 0; i < entries; ++i) {
    const std::size_t size = large ? 5'000 + random_.below(20'000) : random_.below(300);
    written.entries.push_back({"message_appended", {static_cast<std::int64_t>(last_number_)}, text(size)});
  }
  if (random_.once_in(3)) {
    std::string bytes = text(large ? 10'000 + random_.below(20'000) : random_.below(2'000));
    written.blobs.push_back({digest_of(bytes), std::move(bytes)});
  }
  written.title = std::to_string(last_number_);
  return written;
}

Status Witness::create() {
  sessions_.push_back({.id = SessionId("session" + std::to_string(++last_number_))});
  Known& session = sessions_.back();
  auto lease = journal_->create(session.id, {1});
  if (!lease) return fail(lease.error());
  session.lease = *lease;
  return append_to(sessions_.size() - 1, write_something(false));
}

Result<Lease> Witness::lease_of(Known& session) {
  if (session.lease) return *session.lease;
  auto lease = journal_->acquire(session.id);
  if (lease) session.lease = *lease;
  return lease;
}

Status Witness::plan(std::size_t session, Written written, std::vector<Planned>& plans) {
  const auto lease = lease_of(sessions_[session]);
  if (!lease) return fail(lease.error());
  std::uint64_t seq = sessions_[session].seq();
  for (const Planned& earlier : plans)
    if (earlier.session == session) seq += earlier.written.entries.size();
  Append append{
      .lease = *lease, .expected_seq = seq, .entries = written.entries, .blobs = written.blobs, .row = {}};
  append.row.title = written.title;
  if (written.answers != 0) append.answers = {{written.answers, written.outcome}};
  plans.push_back({session, std::move(written), std::move(append), {}});
  return {};
}

/// Issues the first append alone and the others on the journal's thread, so that they are all queued there
/// together.
Status Witness::carry_out(std::vector<Planned>& plans) {
  std::promise<void> all;
  std::size_t waiting = plans.size();
  const auto give = [&](Planned& plan, std::function<void()> then) {
    journal_->append(std::move(plan.append), [&plan, &waiting, &all, then](Result<std::uint64_t> last) {
      plan.outcome = std::move(last);
      if (then) then();
      if (--waiting == 0) all.set_value();
    });
  };
  if (plans.empty()) return {};
  give(plans[0], [&] {
    for (std::size_t i = 1; i < plans.size(); ++i) give(plans[i], {});
  });
  all.get_future().get();
  return remember(plans);
}

Status Witness::remember(std::vector<Planned>& plans) {
  Status failed;
  std::set<std::size_t> broken;  // sessions whose chain has ended
  for (Planned& plan : plans) {
    Known& session = sessions_[plan.session];
    const auto& outcome = *plan.outcome;
    if (outcome) {
      EXPECT_FALSE(broken.contains(plan.session)) << "appended after a failed append";
      session.undecided.clear();
      session.promised.push_back(plan.written);
      EXPECT_EQ(*outcome, session.seq());
      note_answered(plan.written);
      continue;
    }
    if (broken.insert(plan.session).second) {
      session.undecided.emplace_back();
      failed = fail(outcome.error());
    }
    session.undecided.back().push_back(plan.written);
    for (Message& message : messages_)
      if (message.id == plan.written.answers && !message.outcome)
        message.undecided.insert(plan.written.outcome);
  }
  return failed;
}

void Witness::note_answered(const Written& written) {
  for (Message& message : messages_)
    if (message.id == written.answers) message.outcome = written.outcome;
}

Status Witness::append_to(std::size_t session, Written written) {
  std::vector<Planned> plans;
  const auto planned = plan(session, std::move(written), plans);
  return planned ? carry_out(plans) : planned;
}

Status Witness::append_to_some(Written written) {
  if (sessions_.empty()) return {};
  return append_to(random_.below(sessions_.size()), std::move(written));
}

Status Witness::append(bool large) { return append_to_some(write_something(large)); }

Status Witness::append_huge() {
  Written written = write_something(false);
  std::string bytes = text(kHuge);
  written.blobs.push_back({digest_of(bytes), std::move(bytes)});
  return append_to_some(std::move(written));
}

Status Witness::append_group(std::size_t count) {
  std::vector<Planned> plans;
  for (std::size_t i = 0; i < count && !sessions_.empty(); ++i) {
    const auto planned = plan(random_.below(sessions_.size()), write_something(random_.once_in(8)), plans);
    if (!planned) return planned;
  }
  return carry_out(plans);
}

Status Witness::post() {
  if (sessions_.empty()) return {};
  Message message{.session = sessions_[random_.below(sessions_.size())].id, .body = text(random_.below(500))};
  const auto posted = journal_->inbox().post(message.session, message.body, {2});
  if (!posted) {
    undecided_messages_.push_back(message);
    return fail(posted.error());
  }
  message.id = *posted;
  messages_.push_back(message);
  return {};
}

Witness::Message* Witness::some_waiting() {
  std::vector<Message*> waiting;
  for (Message& message : messages_)
    if (!message.outcome) waiting.push_back(&message);
  return waiting.empty() ? nullptr : waiting[random_.below(waiting.size())];
}

Status Witness::answer() {
  Message* message = some_waiting();
  if (message == nullptr) return {};
  const auto lease = lease_of(*std::ranges::find(sessions_, message->session, &Known::id));
  if (!lease) return fail(lease.error());
  const std::string outcome = text(20);
  auto answered = journal_->inbox().answer(*lease, message->id, outcome);
  if (answered) {
    message->outcome = outcome;
  } else {
    message->undecided.insert(outcome);
  }
  return answered;
}

Status Witness::append_answer() {
  const Message* message = some_waiting();
  if (message == nullptr) return append();
  Written written = write_something(false);
  written.answers = message->id;
  written.outcome = text(20);
  const auto session = std::ranges::find(sessions_, message->session, &Known::id) - sessions_.begin();
  return append_to(static_cast<std::size_t>(session), std::move(written));
}

Status Witness::checkpoint(int mode) {
  settle();
  sqlite3* connection = nullptr;
  int code = sqlite3_open_v2(path_.c_str(), &connection, SQLITE_OPEN_READWRITE, nullptr);
  if (code == SQLITE_OK) code = sqlite3_wal_checkpoint_v2(connection, nullptr, mode, nullptr, nullptr);
  sqlite3_close(connection);
  if (code == SQLITE_OK) return {};
  return fail(journal_error((code & 0xff) == SQLITE_FULL ? ErrorKind::kFull : ErrorKind::kIo,
                            "cannot copy the log", true));
}

Status Witness::release() {
  for (Known& session : sessions_)
    if (session.lease) journal_->release(*std::exchange(session.lease, {}));
  return {};
}

// ---- comparisons

Status Witness::check(Since since) {
  settle();
  for (auto session = sessions_.begin(); session != sessions_.end();) {
    bool gone = false;
    if (auto checked = check_session(*session, since, gone); !checked) return checked;
    session = gone ? sessions_.erase(session) : session + 1;
  }
  return check_inbox(since);
}

/// Returns what follows the promised entries: a whole number of appends, or `std::nullopt` if the log is
/// wrong.
std::optional<Witness::Chain> Witness::beyond(const Known& session, const std::vector<Entry>& entries,
                                              Since since) const {
  if (same(session.id, entries, entries_of(session.promised))) return Chain{};
  for (const Chain& chain : session.undecided) {
    for (std::size_t count = 1; since == Since::kCrash && count <= chain.size(); ++count) {
      const Chain more(chain.begin(), chain.begin() + static_cast<std::ptrdiff_t>(count));
      Chain all = session.promised;
      all.insert(all.end(), more.begin(), more.end());
      if (same(session.id, entries, entries_of(all))) return more;
    }
  }
  return std::nullopt;
}

Status Witness::check_session(Known& session, Since since, bool& gone) {
  const auto entries = journal_->read(session.id);
  if (!entries && entries.error().kind() == ErrorKind::kNotFound) {
    EXPECT_TRUE(session.promised.empty())
        << session.id.str() << " is lost, " << session.seq() << " entries promised";
    for (const Chain& chain : session.undecided)
      if (auto checked = check_blobs(chain, false); !checked) return checked;
    EXPECT_EQ(std::erase_if(messages_, [&](const Message& message) { return message.session == session.id; }),
              0)
        << session.id.str() << " is lost, with its messages";
    gone = true;
    return {};
  }
  if (!entries) return fail(entries.error());
  EXPECT_FALSE(entries->empty()) << session.id.str() << " is there without its first append";
  auto more = beyond(session, *entries, since);
  EXPECT_TRUE(more) << session.id.str() << ": " << entries->size() << " entries read, " << session.seq()
                    << " promised, in doubt " << session.undecided.size();
  if (!more) return {};
  for (const Chain& chain : session.undecided) {
    const auto absent = Chain(
        chain.begin() + static_cast<std::ptrdiff_t>(std::min(chain.size(), more->empty() ? 0 : more->size())),
        chain.end());
    if (!more->empty() && chain.front().title != more->front().title) continue;
    if (auto checked = check_blobs(absent, false); !checked) return checked;
  }
  for (const Written& written : *more) note_answered(written);
  session.promised.insert(session.promised.end(), more->begin(), more->end());
  if (since == Since::kCrash) session.undecided.clear();
  if (auto checked = check_blobs(session.promised, true); !checked) return checked;
  return check_row(session);
}

Status Witness::check_row(const Known& session) {
  const auto row = journal_->session(session.id);
  if (!row) return fail(row.error());
  EXPECT_EQ(row->entries, session.seq());
  EXPECT_EQ(row->title, session.promised.empty() ? "" : session.promised.back().title);
  EXPECT_NE(row->status, "corrupt");
  return {};
}

Status Witness::check_blobs(const Chain& chain, bool there) {
  for (const Written& written : chain) {
    for (const Blob& blob : written.blobs) {
      const auto bytes = journal_->blob(blob.digest);
      if (!bytes && bytes.error().kind() != ErrorKind::kNotFound) return fail(bytes.error());
      EXPECT_EQ(bytes.has_value(), there)
          << "a blob of an append that is " << (there ? "" : "not ") << "there";
      EXPECT_TRUE(!bytes || *bytes == blob.bytes);
    }
  }
  return {};
}

Status Witness::check_inbox(Since since) {
  std::vector<InboxMessage> waiting;
  for (;;) {
    const auto page = journal_->inbox().messages(waiting.empty() ? 0 : waiting.back().id);
    if (!page) return fail(page.error());
    if (page->empty()) break;
    waiting.insert(waiting.end(), page->begin(), page->end());
  }
  for (const InboxMessage& found : waiting) {
    const auto known = std::ranges::find(messages_, found.id, &Message::id);
    const auto body = std::ranges::find(undecided_messages_, found.body, &Message::body);
    if (known != messages_.end()) {
      EXPECT_EQ(found.body, known->body);
      EXPECT_FALSE(known->outcome) << "message " << found.id << " was answered and is unanswered again";
    } else if (since == Since::kCrash && body != undecided_messages_.end()) {
      body->id = found.id;
      messages_.push_back(*body);
    } else {
      ADD_FAILURE() << "message " << found.id << " was never posted";
    }
  }
  if (since == Since::kCrash) undecided_messages_.clear();
  for (Message& message : messages_) {
    const bool waits = std::ranges::find(waiting, message.id, &InboxMessage::id) != waiting.end();
    if (waits) {
      if (since == Since::kCrash) message.undecided.clear();
    } else if (auto checked = check_outcome(message, since); !checked) {
      return checked;
    }
  }
  return {};
}

Status Witness::check_outcome(Message& message, Since since) {
  const auto outcome = journal_->inbox().outcome(message.id);
  if (!outcome && outcome.error().kind() != ErrorKind::kNotFound) return fail(outcome.error());
  const bool is_answered = outcome && *outcome;
  EXPECT_TRUE(is_answered) << "message " << message.id << " is lost";
  if (!is_answered) return {};
  if (!message.outcome && since == Since::kCrash && message.undecided.contains(**outcome))
    message.outcome = **outcome;
  EXPECT_EQ(message.outcome, **outcome) << "message " << message.id;
  return {};
}

}  // namespace praxis::faults
