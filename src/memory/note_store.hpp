// What a place of memory does; `clients.cpp` makes both clients of it. Names have been checked.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "memory/ranking.hpp"
#include "praxis/memory/note.hpp"
#include "praxis/memory/stores.hpp"

namespace praxis {

/// Collections and streams with the same name are apart.
enum class NoteSpace : std::uint8_t { kCollection = 0, kStream = 1 };

struct FoundNote {
  Note note;
  Scored scores;
};

/// A note as an embedder sees it.
struct PlainNote {
  std::int64_t id = 0;
  std::string text;
};

/// The vector of a note, of length 1, and the digest of the text that it was made of.
struct NoteVector {
  std::int64_t note = 0;
  std::string hash;
  std::vector<float> vector;
};

/// A query as the model of an embedder understands it.
struct MeaningQuery {
  std::string model;
  std::vector<float> vector;  ///< of length 1
};

/// Thread-safe. Errors `kLimit`, `kJournal`.
class NoteStore {
 public:
  /// Gets notes one by one; returns false to end.
  using Visit = std::function<bool(Note)>;
  using Keep = std::function<bool(const Json& value)>;

  virtual ~NoteStore() = default;
  /// Puts a note with a new place in the order of writing. Returns false, and changes nothing, if `once` is
  /// known.
  virtual Result<bool> put(NoteSpace space, const Note& note, const std::string& once) = 0;
  virtual Result<std::optional<Note>> get(NoteSpace space, const std::string& collection,
                                          const std::string& key) = 0;
  /// In the order of the keys, those after `after`.
  virtual Status visit_keys(NoteSpace space, const std::string& collection, const std::string& after,
                            const Visit& visit) = 0;
  /// The last written first.
  virtual Status visit_newest(NoteSpace space, const std::string& collection, const Visit& visit) = 0;
  /// The first written first. Unless overridden, keeps all of them in memory for that.
  virtual Status visit_oldest(NoteSpace space, const std::string& collection, const Visit& visit);
  /// In the order of writing, those after the note `after`. Error `kInput`: there is no such note.
  virtual Status visit_written(NoteSpace space, const std::string& collection, const std::string& after,
                               const Visit& visit) = 0;
  /// The best `limit` of each ranking. `collection` empty: all. `meaning` null: by words alone. Stores
  /// without vectors ignore it.
  virtual Result<std::vector<FoundNote>> find(NoteSpace space, const std::string& collection,
                                              const std::vector<std::string>& words,
                                              const MeaningQuery* meaning, const Keep& keep,
                                              std::size_t limit) = 0;
  /// Notes of collections that have no vector of this model.
  virtual Result<std::vector<PlainNote>> without_vector(const std::string& model, std::size_t limit);
  /// The vector that this model made of a text with this digest.
  virtual Result<std::optional<std::vector<float>>> known_vector(const std::string& model,
                                                                 const std::string& hash);
  /// Stores vectors of notes that still exist.
  virtual Status add_vectors(const std::string& model, const std::vector<NoteVector>& vectors);
  /// Removes the note, or without a key all of the collection, from all files. Returns whether there was
  /// something, or with a known `once` what the first call with it returned.
  virtual Result<bool> remove(NoteSpace space, const std::string& collection,
                              const std::optional<std::string>& key, const std::string& once) = 0;
  /// Removes, then puts notes of one collection: all of them or none. What is removed may stay in the files
  /// until `purge`. Changes nothing if `once` is known. Unless overridden: one by one, also after `once`.
  virtual Status change(NoteSpace space, const std::string& collection, const std::vector<Note>& writes,
                        const std::vector<std::string>& removals, const std::string& once);
  /// Removes what `change` has left in the files.
  virtual Status purge() { return {}; }
  virtual Result<std::vector<CollectionInfo>> collections(NoteSpace space) = 0;
};

/// The keys of effects that a store remembers.
inline constexpr std::int64_t kKnownEffects = 100'000;

/// Both clients of one store.
MemoryClients clients_of(std::shared_ptr<NoteStore> store, const MemoryOptions& options);

/// The error of a write that would exceed the limits; success if it does not.
Status check_memory_room(const MemoryLimits& limits, std::size_t notes, std::size_t bytes);

}  // namespace praxis
