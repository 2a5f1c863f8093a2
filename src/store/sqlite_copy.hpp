// Copies SQLite files while others write to them.
#pragma once

#include <string>
#include <string_view>

#include "praxis/base/result.hpp"

namespace praxis {

/// Copies the file `from` as it is at one moment, with what its log holds, to a new file `to` of mode 0600,
/// and syncs it. Both paths are absolute. Writers go on meanwhile. What was copied is read once more, page by
/// page. `what` is what messages call the file; a literal. Errors `kJournal`: `not_found`, `corrupt`, `full`,
/// `io`; then `to` may be there and not be whole.
Status copy_sqlite_file(const std::string& from, const std::string& to, std::string_view what);

}  // namespace praxis
