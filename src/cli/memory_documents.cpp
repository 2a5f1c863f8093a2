#include "cli/memory_documents.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "app/document_files.hpp"
#include "app/hints.hpp"
#include "app/plain_text.hpp"
#include "memory/ingest_batch.hpp"
#include "praxis/memory/documents.hpp"
#include "praxis/memory/retention.hpp"

namespace praxis::cli {
namespace {

constexpr const char* kDocuments = "documents";

/// One use of `memory add --files`.
class DocumentWork {
 public:
  DocumentWork(const MemoryCommandOptions& options, DatabaseClient& memory, Console& console)
      : options_(options), memory_(memory), console_(console) {
    if (!options.collection.empty()) ingest_.collection = options.collection;
  }

  Result<ExitStatus> run() {
    if (options_.words.empty())
      return fail(app::usage_error("add --files needs files or folders", "praxis memory add --files docs"));
    if (!options_.key.empty() || !options_.tags.empty())
      return fail(app::usage_error("--key and --tag are of a text; documents get keys of their own"));
    const auto found = app::find_document_files(options_.words);
    if (!found) return fail(found.error());
    if (auto added = add(found->files); !added) return fail(std::move(added.error()));
    for (const std::string& folder : found->folders) {
      if (auto removed = remove_missing(folder, found->files); !removed)
        return fail(std::move(removed.error()));
    }
    if (auto purged = memory_.purge(); !purged) return fail(std::move(purged.error()));
    console_.result({{"collection", ingest_.collection},
                     {"documents", documents_},
                     {"pieces", sum_.pieces},
                     {"written", sum_.written},
                     {"removed", sum_.removed},
                     {"skipped", skipped_}});
    if (!options_.json) {
      console_.err.line(fmt::format("documents: {}, pieces: {} ({} written, {} removed), skipped files: {}",
                                    documents_, sum_.pieces, sum_.written, sum_.removed, skipped_));
    }
    return ExitStatus::kFinished;
  }

 private:
  Status add(const std::vector<std::string>& files) {
    IngestBatch batch(memory_, ingest_, [this](const std::string& file, const IngestReport& report) {
      ++documents_;
      show(file, report);
    });
    for (const std::string& file : files) {
      auto read = app::read_document_file(file);
      if (!read.skipped.empty()) {
        skip(file, read.skipped);
      } else if (auto added = batch.add({file, std::move(read.content), {}}); !added) {
        return added;
      }
    }
    return batch.finish();
  }

  void skip(const std::string& file, const std::string& why) {
    ++skipped_;
    if (options_.json) {
      console_.item("document", {{"file", file}, {"skipped", why}});
    } else {
      console_.err.line(fmt::format("{} is skipped: {}", visible_text(file), why));
    }
  }

  void show(const std::string& file, const IngestReport& report) {
    sum_.pieces += report.pieces;
    sum_.written += report.written;
    sum_.removed += report.removed;
    if (options_.json) {
      console_.item("document", {{"file", file},
                                 {"pieces", report.pieces},
                                 {"written", report.written},
                                 {"removed", report.removed}});
    } else if (report.written + report.removed > 0) {
      console_.out.line(fmt::format("{}: {} of {} pieces written, {} removed", visible_text(file),
                                    report.written, report.pieces, report.removed));
    }
  }

  /// Removes the documents below a folder whose files are gone.
  Status remove_missing(const std::string& folder, const std::vector<std::string>& files) {
    const std::string prefix = folder.ends_with('/') ? folder : folder + '/';
    const auto names = document_names(memory_, prefix, ingest_.collection);
    if (!names) return fail(names.error());
    for (const std::string& name : *names) {
      if (std::ranges::binary_search(files, name)) continue;
      const auto removed = remove_document(memory_, name, ingest_.collection);
      if (!removed) return fail(removed.error());
      show(name, {0, 0, *removed});
    }
    return {};
  }

  const MemoryCommandOptions& options_;
  DatabaseClient& memory_;
  Console& console_;
  IngestOptions ingest_{kDocuments, {}};
  IngestReport sum_;
  std::size_t documents_ = 0, skipped_ = 0;
};

}  // namespace

Result<ExitStatus> add_documents(const MemoryCommandOptions& options, DatabaseClient& memory,
                                 Console& console) {
  return DocumentWork(options, memory, console).run();
}

Result<ExitStatus> sweep_notes(const MemoryCommandOptions& options, DatabaseClient& memory,
                               Console& console) {
  const Retention& keep = options.retention;
  if (!keep.max_age && !keep.max_notes && !keep.max_bytes) {
    return fail(app::usage_error("sweep needs a bound: --max-age, --max-notes or --max-bytes",
                                 "praxis memory sweep --max-age 90d"));
  }
  const std::string collection = options.collection.empty() ? "notes" : options.collection;
  const auto report = sweep(memory, collection, keep);
  if (!report) return fail(report.error());
  console.result({{"collection", collection}, {"removed", report->removed}, {"freed_bytes", report->bytes}});
  if (!options.json)
    console.err.line(fmt::format("removed notes: {} ({} bytes)", report->removed, report->bytes));
  return ExitStatus::kFinished;
}

}  // namespace praxis::cli
