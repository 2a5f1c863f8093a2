// Which values of a journal are sealed when it is, and where each belongs (docs/journal-format.md). On a
// plain journal, whose connection has no sealer, all of this passes values through.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "praxis/journal/journal.hpp"
#include "seal/sealer.hpp"
#include "store/sealed_text.hpp"
#include "store/sqlite.hpp"

namespace praxis {

/// The places of the sealed columns.
SealPlace entry_place(const SessionId& session, std::uint64_t seq, UnixMillis time, std::string_view kind);
/// `name`: as the file has it.
SealPlace blob_place(const Digest& name);
/// `column` of `sessions`.
SealPlace row_place(std::string_view column, const SessionId& session);
SealPlace message_place(InboxId message, const SessionId& to, UnixMillis time);
SealPlace outcome_place(InboxId message);

/// As `opened`, for a column of which an empty value means none, which is not sealed.
std::optional<std::string> opened_column(const Sealer* sealer, std::string_view stored,
                                         const SealPlace& place);

/// `entries` of a session that follow `seq`, with sealed bodies.
std::vector<NewEntry> sealed_entries(const Sealer& sealer, const SessionId& session, std::uint64_t seq,
                                     const std::vector<NewEntry>& entries);

}  // namespace praxis
