// Documents in a memory: splits texts into pieces that know their lines, and stores those that have changed.
// A search then answers with `file:lines`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "praxis/memory/database_client.hpp"

#pragma GCC visibility push(default)
namespace praxis {

enum class DocumentKind : std::uint8_t {
  /// Paragraphs, with titles underlined as in reStructuredText. Form feeds separate pages, whose numbers are
  /// the
  /// first heading.
  kText,
  kMarkdown,  ///< sections of `#` and underlined headings; fenced code stays in one block
  kHtml,      ///< the visible text, at headings and block elements
  kCode,      ///< definitions: blocks that start in the first column after a blank line
};
/// By the ending of a file's name; `kText` for endings that are not known.
DocumentKind document_kind_of(std::string_view name);

/// A part of a document.
struct DocumentPiece {
  std::string text;
  std::string heading;  ///< the headings above, as `Memory > The command`; of code its first definition
  std::size_t first_line = 0;  ///< from 1
  std::size_t last_line = 0;   ///< inclusive
};

struct SplitOptions {
  std::size_t max_bytes = 1600;     ///< of the text of a piece, at least 64; longer lines are cut into pieces
  std::size_t overlap_bytes = 200;  ///< of whole lines that a piece repeats from the one before it
};

/// Splits a document at its headings, and where a section does not fit, at paragraphs, then at lines. Every
/// line with visible text is in a piece. Bytes that are not UTF-8 are replaced. Pure.
std::vector<DocumentPiece> split_document(std::string_view content, DocumentKind kind,
                                          const SplitOptions& options = {});

struct Document {
  std::string
      name;  ///< what results cite, such as the path of the file; up to 1,024 bytes without a line end
  std::string content;
  std::optional<DocumentKind> kind = {};  ///< empty: by the name
};

struct IngestOptions {
  std::string collection = "documents";
  SplitOptions split = {};
};

/// What one `ingest` did, in pieces.
struct IngestReport {
  std::size_t pieces = 0;   ///< of the document
  std::size_t written = 0;  ///< new or changed
  std::size_t removed = 0;  ///< no longer in the document
  bool operator==(const IngestReport&) const = default;
};

/// Stores the pieces of a document in one change: as notes with the key `NAME:FIRST-LAST` and the members
/// `text`, `file`, `heading`, `lines` and `hash`. Replaces the pieces that were stored under this name, and
/// writes only those that differ. Removed pieces are in no file of the memory afterwards. Errors as of
/// `DatabaseClient::write`; then nothing has changed.
Result<IngestReport> ingest(DatabaseClient& memory, const Document& document,
                            const IngestOptions& options = {});

/// Removes all pieces of a document; returns how many there were.
Result<std::size_t> remove_document(DatabaseClient& memory, const std::string& name,
                                    const std::string& collection = "documents");

/// The names of the documents whose names start with `prefix`, in order.
Result<std::vector<std::string>> document_names(DatabaseClient& memory, const std::string& prefix = {},
                                                const std::string& collection = "documents");

}  // namespace praxis
#pragma GCC visibility pop
