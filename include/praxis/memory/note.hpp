// What the memory clients give and take: notes, entries of streams, search hits, and the bounds of a memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "praxis/base/environment.hpp"
#include "praxis/json/json.hpp"

#pragma GCC visibility push(default)
namespace praxis {

class Embedder;  // praxis/memory/embedder.hpp

/// A value as stored.
struct Note {
  std::string collection;  ///< of an entry: its stream
  std::string key;         ///< of an entry: its id
  Json value;
  UnixMillis written;  ///< when it got this value
};
Json to_json(const Note& note);

/// A note that a search found, with the reasons.
struct Hit {
  Note note;
  double score = 0;                ///< the sum over the rankings below; comparable within one search only
  std::vector<std::string> terms;  ///< the words of the query that the note contains, in lower case
  /// The position in each ranking, from 1; equals share a position. Without a value: not in that ranking.
  std::optional<std::size_t> words_rank;         ///< whole words, reduced to their stems (BM25)
  std::optional<std::size_t> pieces_rank;        ///< parts of words, of three letters and more (BM25)
  std::size_t recency_rank = 0;                  ///< among the notes found, the last written first
  std::optional<std::size_t> meaning_rank = {};  ///< by the similarity of vectors, with an embedder
};
Json to_json(const Hit& hit);

/// A collection or stream and what it holds.
struct CollectionInfo {
  std::string name;
  std::size_t notes = 0;
  std::size_t bytes = 0;  ///< keys and values
  UnixMillis written;     ///< the last change
};

/// What a memory holds at most. A write beyond it is refused with `kLimit`; nothing is evicted.
struct MemoryLimits {
  std::size_t max_name_bytes = std::size_t{2} * 1024 * 1024;   ///< of a collection, stream or key
  std::size_t max_value_bytes = std::size_t{4} * 1024 * 1024;  ///< of a value as JSON text
  std::size_t max_notes = 1'000'000;
  std::size_t max_bytes = std::size_t{1} << 30;  ///< of all keys and values together
};

struct MemoryOptions {
  std::shared_ptr<Environment> environment = nullptr;  ///< clock and ids; null: those of the system
  MemoryLimits limits = {};
  /// Finds notes of collections by meaning too, in a file and in PostgreSQL. Null: by words alone.
  std::shared_ptr<Embedder> embedder = nullptr;
};

/// How a change is made.
struct ChangeOptions {
  /// The key of the effect that makes this change: of several changes with the same key, only the first is
  /// made, also by other processes and after a crash. The memory remembers the last 100,000 keys. Empty:
  /// always made.
  std::string once = {};
};

}  // namespace praxis
#pragma GCC visibility pop
