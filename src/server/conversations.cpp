#include "server/conversations.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "logs/log_writer.hpp"
#include "server/handlers.hpp"

namespace praxis::server {
namespace {

constexpr std::size_t kMostMetadata = 16, kLongestKey = 64, kLongestValue = 512;

// Each fact is an annotation with a JSON object that has one of these keys.
constexpr const char* kMetadata = "metadata";
constexpr const char* kItems = "items";
constexpr const char* kRemoved = "removed";
constexpr const char* kResponse = "response";
constexpr const char* kHolds = "holds";

JsonObject fact_json(const ConversationFact& fact) {
  return std::visit(match{[](const MetadataSet& f) { return JsonObject{{kMetadata, f.metadata}}; },
                          [](const ItemsAdded& f) { return JsonObject{{kItems, f.items}}; },
                          [](const ItemRemoved& f) { return JsonObject{{kRemoved, f.id}}; },
                          [](const ResponseBegun& f) {
                            return JsonObject{{kResponse, f.response.text()}, {kHolds, f.holds}};
                          }},
                    fact);
}

/// Takes one annotation. A person may annotate the run too, so what has another form says nothing.
void take_fact(const std::string& text, StoredConversation& conversation) {
  const Json json = parse_json(text).value_or(nullptr);
  if (const Json& metadata = json_at(json, kMetadata); metadata.is_object()) conversation.metadata = metadata;
  if (const auto* items = json_at(json, kItems).if_array())
    conversation.facts.emplace_back(ItemsAdded{*items});
  if (const Json& removed = json_at(json, kRemoved); removed.is_string())
    conversation.facts.emplace_back(ItemRemoved{to_plain_text(removed)});
  if (auto response = ResponseId::parse(json_text(json, kResponse))) {
    // A turn that could not begin, since another server had the run, leaves its number to a later request.
    std::erase_if(conversation.facts, [&](const ConversationFact& fact) {
      const auto* begun = std::get_if<ResponseBegun>(&fact);
      return begun != nullptr && begun->response == *response;
    });
    conversation.facts.emplace_back(ResponseBegun{*std::move(response), json_int(json, kHolds)});
  }
}

StoredConversation conversation_of(const app::StoredSession& stored) {
  StoredConversation conversation{.id = {stored.id}, .created = {}, .metadata = JsonObject{}, .facts = {}};
  if (!stored.records.empty()) {
    conversation.created = stored.records.front().record.time;
    conversation.seq = stored.records.back().seq;
  }
  for (const StoredRecord& each : stored.records) {
    const auto* said = std::get_if<records::Intervened>(&each.record.body);
    if (said != nullptr && said->verb == CommandVerb::kAnnotate) take_fact(said->text, conversation);
  }
  return conversation;
}

records::Intervened said_by(const Principal& principal, const ConversationFact& fact) {
  return {CommandVerb::kAnnotate, to_json_text(fact_json(fact)), nullptr, author_of(principal)};
}

/// The lease of the log of a conversation. Waits a little for others, here or on other servers, that write a
/// fact and have it for milliseconds.
Result<Lease> lease_in_time(Journal& journal, const SessionId& conversation) {
  constexpr std::chrono::milliseconds kPatience{2'000}, kBetweenTries{10};
  const auto until = std::chrono::steady_clock::now() + kPatience;
  while (true) {
    auto lease = journal.acquire(conversation);
    const bool is_held = !lease && lease.error().kind() == ErrorKind::kLeaseHeld;
    if (!is_held || std::chrono::steady_clock::now() >= until) return lease;
    std::this_thread::sleep_for(kBetweenTries);
  }
}

}  // namespace

Json conversation_json(const StoredConversation& conversation) {
  return JsonObject{{"id", conversation.id.text()},
                    {"object", "conversation"},
                    {"created_at", conversation.created.value / 1000},
                    {"metadata", conversation.metadata}};
}

Result<Json> read_metadata(const Json& metadata) {
  if (metadata.is_null()) return Json(JsonObject{});
  const auto* entries = metadata.if_object();
  if (entries == nullptr || entries->size() > kMostMetadata)
    return fail(field_error("metadata", "must be an object with at most 16 members"));
  for (const auto& entry : *entries) {
    if (entry.key().size() > kLongestKey || !entry.value().is_string() ||
        entry.value().get_string().size() > kLongestValue)
      return fail(field_error("metadata", "has keys of at most 64 and strings of at most 512 bytes"));
  }
  return metadata;
}

Conversations::Conversations(std::shared_ptr<Runs> runs, std::shared_ptr<Journal> journal,
                             std::shared_ptr<Runtime> runtime)
    : runs_(std::move(runs)), journal_(std::move(journal)), runtime_(std::move(runtime)) {}

Result<StoredConversation> Conversations::create(Json metadata, JsonArray items, const Principal& principal) {
  JsonObject fact = fact_json(MetadataSet{std::move(metadata)});
  if (!items.empty()) fact.insert_or_assign(kItems, std::move(items));
  const auto run = runs_->create_conversation(to_json_text(fact), principal);
  if (!run) return fail(run.error());
  const auto stored = runs_->stored(*run);
  if (!stored) return fail(stored.error());
  return conversation_of(*stored);
}

Result<StoredConversation> Conversations::find(const std::string& text, const Principal& principal) const {
  const auto id = ConversationId::parse(text);
  if (!id || !runs_->may_see_conversation(principal, id->run)) return fail(not_found("conversation", text));
  const auto stored = runs_->stored(id->run);
  if (!stored) return fail(not_found("conversation", text));
  StoredConversation conversation = conversation_of(*stored);
  // A token for some agents alone learns nothing of what others said.
  const bool hides_some = std::ranges::any_of(conversation.facts, [&](const ConversationFact& fact) {
    const auto* begun = std::get_if<ResponseBegun>(&fact);
    return begun != nullptr && !principal.agents.empty() &&
           runs_->lineages().root_of(begun->response.run) == begun->response.run &&
           !runs_->may_see(principal, begun->response.run);
  });
  if (hides_some) return fail(not_found("conversation", text));
  return conversation;
}

Status Conversations::note(const ConversationId& id, const ConversationFact& fact,
                           const Principal& principal) {
  const auto lease = lease_in_time(*journal_, id.run);
  if (!lease) return fail(lease.error());
  const Claimed writing(journal_, *lease, {});
  return record_with_lease(
      *journal_, runtime_->environment(), *lease,
      [said = said_by(principal, fact)](const State&) -> Result<std::vector<RecordBody>> {
        return std::vector<RecordBody>{said};
      });
}

Status Conversations::note_begun(const Claimed& claim, const ResponseBegun& response,
                                 const Principal& principal, std::uint64_t seen) {
  return record_with_lease(
      *journal_, runtime_->environment(), claim.lease(),
      [seen, said = said_by(principal, response)](const State& state) -> Result<std::vector<RecordBody>> {
        if (state.seq != seen)
          return fail(conflict("the conversation has just changed; send the request again"));
        return std::vector<RecordBody>{said};
      });
}

Result<Conversations::Claim> Conversations::claim(const ConversationId& id, const SessionId& run) {
  const auto is_claimed = [] {
    return conflict(
        "another response of this conversation is about to begin; send the request again "
        "when it has ended");
  };
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(claims_, [](const auto& each) { return each.second.expired(); });
    if (const auto other = claims_[id.run].lock())
      return !run.empty() && other->run() == run ? Result<Claim>(other) : fail(is_claimed());
  }
  auto lease = lease_in_time(*journal_, id.run);
  if (!lease) return fail(lease.error().kind() == ErrorKind::kLeaseHeld ? is_claimed() : lease.error());
  auto claim = std::make_shared<const Claimed>(journal_, *std::move(lease), run);
  const std::lock_guard lock(mutex_);
  claims_[id.run] = claim;
  return claim;
}

void Conversations::give_up(const Claim& claim) {
  claim->give_up();
  const std::lock_guard lock(mutex_);
  std::erase_if(claims_, [&](const auto& each) { return each.second.lock() == claim; });
}

}  // namespace praxis::server
