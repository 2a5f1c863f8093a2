// Short-term memory: streams of entries, for the steps and drafts of one run, of an agent tree, or under any
// name.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "praxis/memory/note.hpp"

#pragma GCC visibility push(default)
namespace praxis {

struct StreamReadOptions {
  std::size_t limit = 100;
  /// An entry's id: the entries after it. Empty: the latest.
  std::string after = {};
};

struct StreamSearchOptions {
  std::size_t top_k = 10;
  std::string stream = {};  ///< empty: all streams
};

/// Implementations are thread-safe; a call may block for the time of a disk write. Errors: `kInput` for a
/// name that is empty or too long, `kLimit` if the memory is full, `kJournal` for a failure of its storage.
class MemoryClient {
 public:
  virtual ~MemoryClient() = default;
  /// Adds an entry at the end of a stream, durably. Returns its id: that of the first call with the same
  /// `once`, if there was one.
  virtual Result<std::string> append(const std::string& stream, Json entry,
                                     const ChangeOptions& options = {}) = 0;
  /// The entries of a stream, the oldest first. A stream without entries is empty.
  virtual Result<std::vector<Note>> read(const std::string& stream,
                                         const StreamReadOptions& options = {}) = 0;
  /// The entries that contain words of the query, the best first (`DatabaseClient::search`).
  virtual Result<std::vector<Hit>> search(std::string_view query,
                                          const StreamSearchOptions& options = {}) = 0;
  /// Removes all entries of a stream as `DatabaseClient::remove` does. False if there were none.
  virtual Result<bool> clear(const std::string& stream, const ChangeOptions& options = {}) = 0;
  /// All streams, by name.
  virtual Result<std::vector<CollectionInfo>> streams() = 0;
};

}  // namespace praxis
#pragma GCC visibility pop
