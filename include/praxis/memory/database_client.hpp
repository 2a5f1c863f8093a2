// Long-term memory: JSON values by collection and key, such as facts, profiles and documents, with queries by
// condition and a search for words.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "praxis/memory/filter.hpp"
#include "praxis/memory/note.hpp"

#pragma GCC visibility push(default)
namespace praxis {

struct QueryOptions {
  std::size_t limit = 100;
  /// A key: only notes whose keys follow it. With the last key of one page it gives the next.
  std::string after = {};
  /// The last written first, instead of the order of the keys. Not together with `after`.
  bool newest_first = false;
  /// The first written first. Not together with `after` or `newest_first`.
  bool oldest_first = false;
};

/// Several changes of one collection.
struct NoteChanges {
  std::vector<std::pair<std::string, Json>> writes = {};  ///< keys and values
  std::vector<std::string> removals = {};                 ///< keys; before the writes
};

struct SearchOptions {
  std::size_t top_k = 10;
  std::string collection = {};  ///< empty: all collections
  Filter filter = {};
};

/// Implementations are thread-safe; a call may block for the time of a disk write. Errors: `kInput` for a
/// name that is empty or too long, `kLimit` if the memory is full, `kJournal` for a failure of its storage.
class DatabaseClient {
 public:
  virtual ~DatabaseClient() = default;
  /// Stores a value, or replaces the one that is there, durably.
  virtual Status write(const std::string& collection, const std::string& key, Json value,
                       const ChangeOptions& options = {}) = 0;
  /// `std::nullopt` if the collection has no such key.
  virtual Result<std::optional<Note>> read(const std::string& collection, const std::string& key) = 0;
  /// The notes of a collection whose values match.
  virtual Result<std::vector<Note>> query(const std::string& collection, const Filter& filter = {},
                                          const QueryOptions& options = {}) = 0;
  /// The notes whose keys or strings contain words of `text`, the best first: a ranking by whole words, one
  /// by parts of words and one by the time of writing are fused by reciprocal rank.
  virtual Result<std::vector<Hit>> search(std::string_view text, const SearchOptions& options = {}) = 0;
  /// Removes a note, or all of a collection without a key, from the storage too: afterwards no file of the
  /// memory contains any of it. Takes longer than a write. False if there was nothing to remove.
  virtual Result<bool> remove(const std::string& collection, const std::optional<std::string>& key,
                              const ChangeOptions& options = {}) = 0;
  /// Makes all changes or, after an error, none of them; much faster than one by one. Content that they
  /// removed or replaced may stay in the memory's files until `purge`. In an implementation that does not
  /// override it: makes them one by one, and stops at the first error.
  virtual Status change(const std::string& collection, NoteChanges changes,
                        const ChangeOptions& options = {});
  /// Completes the removals of `change`: afterwards no file of the memory contains what they removed. The
  /// next opening of a memory in a file does it too.
  virtual Status purge() { return {}; }
  /// All collections, by name.
  virtual Result<std::vector<CollectionInfo>> collections() = 0;
};

}  // namespace praxis
#pragma GCC visibility pop
