// What one run of an invocation holds: appends to the logs of an agent tree, which were or are to be stored
// together. Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "praxis/journal/journal.hpp"

namespace praxis::restate {

/// The form of the appends alone, without leases.
std::string encode_append(const Append& append);
/// A batch of encoded appends. It begins with the digest of the rest.
std::string encode_batch(const std::vector<std::string>& appends);
/// The appends of a batch; of their leases only the session is set. Error `kJournal`, `corrupt`: the batch
/// was changed; `version`: a newer Praxis wrote it.
Result<std::vector<Append>> decode_batch(std::string_view batch);

}  // namespace praxis::restate
