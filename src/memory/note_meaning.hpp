// Gives the notes of a store vectors, and turns queries into vectors.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "memory/note_store.hpp"
#include "praxis/memory/embedder.hpp"

namespace praxis {

/// Thread-safe.
class NoteMeaning {
 public:
  NoteMeaning(std::shared_ptr<NoteStore> store, std::shared_ptr<Embedder> embedder)
      : store_(std::move(store)), embedder_(std::move(embedder)) {}

  /// Makes vectors for notes that have none, at most a few thousand at a time, and one for the query. Nothing
  /// if the embedder fails or knows no direction for the query: the search then goes by words alone. Errors
  /// of the store.
  Result<std::optional<MeaningQuery>> query_for(const std::string& text);

 private:
  /// False if there are more notes without a vector.
  Result<bool> embed_some();
  std::optional<std::vector<float>> vector_of_query(const std::string& text);

  const std::shared_ptr<NoteStore> store_;
  const std::shared_ptr<Embedder> embedder_;
  std::mutex mutex_;
  std::deque<std::pair<std::string, std::vector<float>>> queries_;  // the last ones
};

}  // namespace praxis
