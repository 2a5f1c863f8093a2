#include "journal/chain.hpp"

#include <array>
#include <bit>
#include <cstring>

#include "praxis/json/json.hpp"

namespace praxis {
namespace {

void put_little_endian(char* out, std::uint64_t value) {
  if constexpr (std::endian::native == std::endian::big) value = std::byteswap(value);
  std::memcpy(out, &value, sizeof value);
}

Error too_long(const std::string& what, std::size_t size) {
  return make_error(ErrorCode::kInput, what + " has " + std::to_string(size) + " bytes; at most " +
                                           std::to_string(kMaxInboxBytes) + " are possible");
}

}  // namespace

Error journal_error(ErrorKind kind, std::string message, bool retriable) {
  return make_error(ErrorCode::kJournal, kind, std::move(message), retriable);
}

Error untrusted_from(const SessionId& session, std::uint64_t seq) {
  return journal_error(ErrorKind::kCorrupt,
                       "session " + session.str() + ": the log cannot be trusted from entry " +
                           std::to_string(seq) + " on; it was damaged or altered outside Praxis")
      .set("session", session.str())
      .set("seq", static_cast<std::int64_t>(seq));
}

Error no_such_session(const SessionId& session) {
  return journal_error(ErrorKind::kNotFound, "no session " + session.str() + " in this journal");
}

Error no_such_blob(const Digest& digest) {
  return journal_error(ErrorKind::kNotFound, "no blob " + digest.hex() + " in this journal");
}

Error session_exists(const SessionId& session) {
  return journal_error(ErrorKind::kExists, "session " + session.str() + " exists already");
}

Error lease_held(const SessionId& session, std::int64_t pid) {
  return journal_error(ErrorKind::kLeaseHeld, "session " + session.str() + " is in use by process " +
                                                  std::to_string(pid) + "; stop it or force")
      .set("pid", pid);
}

Error no_such_message(InboxId message) {
  return journal_error(ErrorKind::kNotFound,
                       "no message " + std::to_string(message) +
                           " here; it was never posted, or its answer is forgotten by now");
}

Error already_answered(InboxId message) {
  return journal_error(ErrorKind::kConflict,
                       "message " + std::to_string(message) + " has been answered already");
}

Digest chain_start(const SessionId& session) { return digest_of(session.str()); }

Digest chain_next(const Digest& previous, std::uint64_t seq, UnixMillis time, std::string_view kind,
                  std::string_view body) {
  std::array<char, 24> place;
  put_little_endian(place.data(), seq);
  put_little_endian(place.data() + 8, static_cast<std::uint64_t>(time.value));
  put_little_endian(place.data() + 16, kind.size());
  return digest_chain(previous, {{place.data(), place.size()}, kind, body});
}

Status admit(const Append& append, const Head& head) {
  const auto& session = append.lease.session;
  if (auto admitted = admit(append.lease, head); !admitted) return admitted;
  if (append.expected_seq != head.seq) {
    return fail(journal_error(ErrorKind::kConflict, "session " + session.str() + " is at entry " +
                                                        std::to_string(head.seq) + ", the append expects " +
                                                        std::to_string(append.expected_seq)));
  }
  for (const auto& blob : append.blobs) {
    if (digest_of(blob.bytes) != blob.digest) {
      return fail(journal_error(ErrorKind::kCorrupt,
                                "the blob to store under " + blob.digest.hex() + " has another digest"));
    }
  }
  return {};
}

Status admit(const Lease& lease, const Head& head) {
  if (head.held && lease.token == head.token) return {};
  return fail(journal_error(ErrorKind::kLeaseLost,
                            "session " + lease.session.str() + " now belongs to another writer"));
}

Status admit_message(const SessionId& to, std::string_view body, std::size_t waiting) {
  if (body.size() > kMaxInboxBytes) return fail(too_long("a message to session " + to.str(), body.size()));
  if (waiting < kMaxInboxWaiting) return {};
  return fail(journal_error(ErrorKind::kFull,
                            std::to_string(waiting) + " messages to session " + to.str() +
                                " wait for an answer already; let its owner take them and try again",
                            true));
}

Status admit_outcome(const InboxAnswer& answer) {
  if (answer.outcome.size() <= kMaxInboxBytes) return {};
  return fail(too_long("the answer to message " + std::to_string(answer.message), answer.outcome.size()));
}

}  // namespace praxis
