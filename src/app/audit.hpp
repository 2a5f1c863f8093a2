// What rules, hooks and people decided in the runs of a journal, as a projection of its records, and signed
// heads of the journal: a head that is kept elsewhere shows later whether the journal is still the same one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "app/refusals.hpp"
#include "app/tokens.hpp"
#include "app/without_secrets.hpp"
#include "app/workspace.hpp"
#include "praxis/base/digest.hpp"
#include "praxis/base/time.hpp"
#include "praxis/prompts/prompt_store.hpp"

namespace praxis::app {

struct AuditEntry {
  UnixMillis time = {};
  SessionId session = {};  ///< empty for a change of a prompt, and for tokens
  std::uint64_t seq = 0;   ///< of the record
  /// `blocked`, `parked`, `approved`, `denied`, `edited`, `answered`, `changed`, `created`, `deleted`; of
  /// tokens `added`, `revoked`, `refused`.
  std::string action = {};
  /// A tool; of `changed` `rules`, `instructions`, `tools`, `model` or `prompt ID`; `shown` and `export`
  /// where filters change a record.
  std::string what = {};
  std::string call = {};     ///< the call, if it is about one
  Digest arguments = {};     ///< of the call, as the text that the model wrote or a person edited
  std::string by = {};       ///< the principal
  std::string surface = {};  ///< where that principal acted
  std::string role = {};     ///< of that principal then, at a server
  std::string text = {};     ///< the reason, the question or the answer
};
Json to_json(const AuditEntry& entry);

/// The entries of all sessions since `from`, oldest first. What content filters at `shown` and `export` do to
/// a record is one entry for each of them, by the rules of the agent at that record and of the present
/// configuration, which `redactions` has; the texts of entries are as they are shown. Each log is checked
/// against its hash chain: a damaged one is an error. Error `kJournal`.
Result<std::vector<AuditEntry>> audit_entries(Journal& journal, const Redactions& redactions,
                                              UnixMillis from);
/// Changes of prompts since `from` as entries.
std::vector<AuditEntry> audit_entries(const std::vector<PromptChange>& changes, UnixMillis from);
/// Tokens that were added and revoked, and what servers refused, since `from`, oldest first.
std::vector<AuditEntry> audit_entries(const std::vector<AccessToken>& tokens,
                                      const std::vector<AccessRefusal>& refusals, UnixMillis from);

/// A key that signs heads: Ed25519.
class AuditKey {
 public:
  /// Reads the key in `folder`, or creates it: `audit.key`, for the user only. Error `kInput`: it cannot be
  /// read or written, or others could have.
  static Result<AuditKey> open(const std::string& folder, bool create);

  /// In base 64.
  std::string public_key() const;
  std::string sign(std::string_view text) const;

 private:
  std::string secret_;  ///< 64 bytes
};

/// The end of each log of a journal: `{praxis_audit, time, sessions: [{id, entries, hash}], prompts:
/// {changes, hash}}`. Reads all logs, each checked against its chain. Error `kJournal`.
Result<JsonObject> audit_head(Journal& journal, const std::vector<PromptChange>& prompts, UnixMillis now);
/// Adds `key` and `signature`.
void sign_head(JsonObject& head, const AuditKey& key);

struct HeadCheck {
  UnixMillis time;             ///< of the head
  std::uint64_t sessions = 0;  ///< of the head
  std::uint64_t later = 0;     ///< entries that the journal has and the head has not
  std::vector<std::string> problems = {};
};
/// Compares a head with a journal, which may only have grown since. `key`: the public key that must have
/// signed it. Error `kInput`: it is no head, or not signed by this key; `kJournal`.
Result<HeadCheck> check_head(const Json& head, const std::string& key, Journal& journal,
                             const std::vector<PromptChange>& prompts);

}  // namespace praxis::app
