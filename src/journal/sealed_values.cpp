#include "journal/sealed_values.hpp"

#include <utility>

namespace praxis {

SealPlace entry_place(const SessionId& session, std::uint64_t seq, UnixMillis time, std::string_view kind) {
  return SealPlace("chain.body").add(session.str()).add(seq).add(time.value).add(kind);
}

SealPlace blob_place(const Digest& name) { return SealPlace("blobs.bytes").add(name.hex()); }

SealPlace row_place(std::string_view column, const SessionId& session) {
  return SealPlace("sessions").add(column).add(session.str());
}

SealPlace message_place(InboxId message, const SessionId& to, UnixMillis time) {
  return SealPlace("mail.body").add(message).add(to.str()).add(time.value);
}

SealPlace outcome_place(InboxId message) { return SealPlace("mail.outcome").add(message); }

std::optional<std::string> opened_column(const Sealer* sealer, std::string_view stored,
                                         const SealPlace& place) {
  return stored.empty() ? std::string() : opened(sealer, stored, place);
}

std::vector<NewEntry> sealed_entries(const Sealer& sealer, const SessionId& session, std::uint64_t seq,
                                     const std::vector<NewEntry>& entries) {
  std::vector<NewEntry> sealed;
  sealed.reserve(entries.size());
  for (const auto& [kind, time, body] : entries)
    sealed.push_back({kind, time, sealer.seal(body, entry_place(session, ++seq, time, kind))});
  return sealed;
}

}  // namespace praxis
