// The files and folders that a user gives as documents.
#pragma once

#include <string>
#include <vector>

#include "praxis/base/result.hpp"

namespace praxis::app {

/// The documents below what the user gave.
struct DocumentFiles {
  std::vector<std::string> files;    ///< absolute paths, in order
  std::vector<std::string> folders;  ///< those that were given, absolute
};

/// Finds regular files: those that are named, and all below named folders but hidden ones (`.git`) and
/// symbolic links. Error `kInput`: a path that does not exist, or more than 100,000 files.
Result<DocumentFiles> find_document_files(const std::vector<std::string>& paths);

/// A file as text, or why it is left out.
struct DocumentText {
  std::string content;
  std::string skipped;  ///< not empty: such as "it is not text"
};

/// Reads a file of at most 16 MiB. The text of a PDF is what `pdftotext` finds in it, in a sandbox.
DocumentText read_document_file(const std::string& path);

}  // namespace praxis::app
