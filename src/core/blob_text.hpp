// Moves large strings of a record out of it. In the record they become `{"$blob": digest, "bytes": n}`; a key
// of the caller's data that begins with `$` gets a second `$`, so that data cannot be mistaken for a
// reference.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "praxis/core/records.hpp"
#include "praxis/json/json.hpp"

namespace praxis {

/// `text` is a JSON object.
std::string externalise(std::string text, std::vector<RecordBlob>& blobs);
Result<Json> internalise(std::string_view text, const BlobLookup& blobs);

}  // namespace praxis
