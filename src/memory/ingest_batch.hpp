// Stores many documents, several of them in one change: an index of words takes half the time if its parts
// are larger.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "praxis/memory/documents.hpp"

namespace praxis {

/// Each document changes as a whole, as `ingest` does it. For one thread.
class IngestBatch {
 public:
  /// Gets each document once it is stored, in their order.
  using Stored = std::function<void(const std::string& name, const IngestReport& report)>;

  /// `memory` must outlive this.
  IngestBatch(DatabaseClient& memory, IngestOptions options, Stored stored);

  /// Takes a document whose name no other one of the batch has, and stores all that it has taken if that is
  /// much. Errors as of `ingest`: of this document, or of those before it; then they may not be stored.
  Status add(const Document& document);
  /// Stores the rest. What is not stored when the batch ends is lost.
  Status finish();

 private:
  struct Pending {
    std::string name;
    IngestReport report;
    NoteChanges changes;
  };
  Status store_together(const std::vector<Pending>& documents);

  DatabaseClient& memory_;
  const IngestOptions options_;
  const Stored stored_;
  std::vector<Pending> pending_;
  std::size_t bytes_ = 0;  ///< of the texts in `pending_`
};

}  // namespace praxis
