// OpenAI's Conversations in the journal: each is a run without turns, whose log says one fact after another
// what belongs to the conversation. Its responses are turns of other runs.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "praxis/domain/author.hpp"
#include "praxis/json/json.hpp"
#include "server/responses_id.hpp"
#include "server/runs.hpp"

namespace praxis::server {

// ---- what a log says

/// From here on the conversation has this metadata, an object of strings.
struct MetadataSet {
  Json metadata;
};
/// The client added items, which have ids.
struct ItemsAdded {
  JsonArray items;
};
/// The client removed an item; the log keeps it.
struct ItemRemoved {
  std::string id;
};
/// A response begins, whose items follow those so far; it counts if its run has such a turn.
struct ResponseBegun {
  ResponseId response;
  /// How many earlier responses of the conversation the run had when it began; of the first response in a
  /// run.
  std::int64_t holds = 0;
};
using ConversationFact = std::variant<MetadataSet, ItemsAdded, ItemRemoved, ResponseBegun>;

/// A conversation as its log has it.
struct StoredConversation {
  ConversationId id;
  UnixMillis created;
  std::uint64_t seq = 0;  ///< of the last record
  Json metadata;
  std::vector<ConversationFact> facts;  ///< without those about metadata
};

/// `{id, object, created_at, metadata}`.
Json conversation_json(const StoredConversation& conversation);
/// The metadata of a request; an empty object if it is null. Error `kInput`: not an object of at most 16
/// strings.
Result<Json> read_metadata(const Json& metadata);

/// The conversations of a server. Thread-safe; reads and writes the journal, so call it on workers.
class Conversations {
 public:
  Conversations(std::shared_ptr<Runs> runs, std::shared_ptr<Journal> journal,
                std::shared_ptr<Runtime> runtime);

  /// Makes a conversation, durably. Error `kJournal`.
  Result<StoredConversation> create(Json metadata, JsonArray items, const Principal& principal);
  /// Error `kNotFound`: it is unknown, or not one that the principal may see with all of its responses.
  Result<StoredConversation> find(const std::string& text, const Principal& principal) const;
  /// Adds a fact, durably. Waits while a response of the conversation begins. Errors: `kJournal`, among them
  /// `kLeaseHeld` if that takes long.
  Status note(const ConversationId& id, const ConversationFact& fact, const Principal& principal);

  /// Held while a response of a conversation begins: the lease of its log, so that servers which share the
  /// journal keep from each other, and a server that dies gives it up.
  class Claimed {
   public:
    Claimed(std::shared_ptr<Journal> journal, Lease lease, SessionId run)
        : journal_(std::move(journal)), lease_(std::move(lease)), run_(std::move(run)) {}
    ~Claimed() { give_up(); }
    Claimed(const Claimed&) = delete;
    Claimed& operator=(const Claimed&) = delete;

    const Lease& lease() const { return lease_; }
    const SessionId& run() const { return run_; }
    /// Others may take it.
    void give_up() const {
      if (!gone_.exchange(true)) journal_->release(lease_);
    }

   private:
    const std::shared_ptr<Journal> journal_;
    const Lease lease_;
    const SessionId run_;
    mutable std::atomic<bool> gone_ = false;
  };
  using Claim = std::shared_ptr<const Claimed>;
  /// Error `kConflict`: another response of the conversation begins, here or on another server. `run` is the
  /// one that the request will make, if its key says so, else empty: requests with the same key may begin
  /// together on one server.
  Result<Claim> claim(const ConversationId& id, const SessionId& run);
  /// Adds that the response of a claim begins, durably. Error `kConflict`: the log has a record after `seen`;
  /// `kJournal`.
  Status note_begun(const Claimed& claim, const ResponseBegun& response, const Principal& principal,
                    std::uint64_t seen);
  /// The response has begun, or did not: the next may. Before the client learns it, since its next request
  /// may come at once.
  void give_up(const Claim& claim);

 private:
  const std::shared_ptr<Runs> runs_;
  const std::shared_ptr<Journal> journal_;
  const std::shared_ptr<Runtime> runtime_;
  std::mutex mutex_;  // guards the next member
  std::map<SessionId, std::weak_ptr<const Claimed>> claims_;
};

}  // namespace praxis::server
