#include "app/document_files.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include "app/hints.hpp"
#include "app/plain_text.hpp"
#include "praxis/process/process.hpp"

namespace praxis::app {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxDocuments = 100'000;
constexpr std::uintmax_t kMaxDocumentBytes = std::uintmax_t{16} << 20U;

std::unexpected<Error> unreadable_path(const std::string& path, const std::error_code& why) {
  return fail(usage_error("cannot read " + in_quotes(path) + ": " + why.message()));
}

/// Adds the files below a folder.
Status collect_files(const fs::path& folder, std::vector<std::string>& files) {
  std::error_code failed;
  fs::recursive_directory_iterator each(folder, fs::directory_options::skip_permission_denied, failed);
  for (; !failed && each != fs::recursive_directory_iterator(); each.increment(failed)) {
    const bool is_hidden = each->path().filename().native().starts_with('.');
    const fs::file_status status = each->symlink_status(failed);
    if (failed) break;
    if (is_hidden && fs::is_directory(status)) each.disable_recursion_pending();
    if (is_hidden || !fs::is_regular_file(status)) continue;
    files.push_back(each->path().native());
    if (files.size() > kMaxDocuments) {
      return fail(usage_error("there are more than " + std::to_string(kMaxDocuments) + " files below " +
                              in_quotes(folder.native()) + "; name fewer folders"));
    }
  }
  if (failed) return unreadable_path(folder.native(), failed);
  return {};
}

/// The text of a PDF: its pages are separated by form feeds. The program that reads it gets a sandbox with no
/// file, no network, and bounded time and memory, because what it reads may be made to attack it.
DocumentText text_of_pdf(std::string bytes) {
  constexpr std::chrono::seconds kTime{60};
  ProcessSpec spec;
  spec.argv = {"pdftotext", "-q", "-enc", "UTF-8", "-", "-"};
  spec.environment = {{"PATH", "/usr/local/bin:/usr/bin:/bin"}};
  spec.input = std::move(bytes);
  spec.limits.wall_time = kTime;
  spec.limits.memory_bytes = std::uint64_t{1} << 30U;
  spec.limits.processes = 16;
  spec.limits.output_bytes = kMaxDocumentBytes;
  spec.sandbox.emplace();
  auto process = start_process(spec);
  if (!process)
    return {{}, "a PDF needs pdftotext (package poppler-utils) in a sandbox: " + process.error().message};
  auto run = process->wait({});
  if (!run) return {{}, "pdftotext failed: " + run.error().message};
  if (run->end != ProcessEnd::kExited || run->exit_code != 0) {
    return {{},
            "pdftotext cannot read it (" + std::string(to_string(run->end)) + ", status " +
                std::to_string(run->exit_code) + ")"};
  }
  if (run->out.left_out() > 0) return {{}, "its text is too long"};
  return {std::move(run->out.head) + run->out.tail, {}};
}

}  // namespace

Result<DocumentFiles> find_document_files(const std::vector<std::string>& paths) {
  DocumentFiles found;
  for (const std::string& given : paths) {
    std::error_code failed;
    const fs::path path = fs::absolute(given, failed).lexically_normal();
    const fs::file_status status = failed ? fs::file_status() : fs::status(path, failed);
    if (failed || !fs::exists(status)) {
      return unreadable_path(given,
                             failed ? failed : std::make_error_code(std::errc::no_such_file_or_directory));
    }
    if (!fs::is_directory(status)) {
      found.files.push_back(path.native());
      continue;
    }
    found.folders.push_back(path.native());
    if (auto collected = collect_files(path, found.files); !collected)
      return fail(std::move(collected.error()));
  }
  std::ranges::sort(found.files);
  const auto repeated = std::ranges::unique(found.files);
  found.files.erase(repeated.begin(), repeated.end());
  return found;
}

DocumentText read_document_file(const std::string& path) {
  std::error_code failed;
  if (!fs::is_regular_file(path, failed)) return {{}, "it is not a regular file"};
  const std::uintmax_t size = fs::file_size(path, failed);
  if (!failed && size > kMaxDocumentBytes)
    return {{},
            "it has " + std::to_string(size) + " bytes, at most " + std::to_string(kMaxDocumentBytes) +
                " are read"};
  std::ifstream in(path, std::ios::binary);
  if (!in) return {{}, std::string("cannot open it: ") + std::strerror(errno)};
  DocumentText document{std::string(std::istreambuf_iterator<char>(in), {}), {}};
  if (in.bad()) return {{}, "cannot read it"};
  if (document.content.starts_with("%PDF-")) return text_of_pdf(std::move(document.content));
  // As grep and git do: a file with a zero byte near its start is not text.
  constexpr std::size_t kLooked = 8192;
  if (document.content.substr(0, kLooked).find('\0') != std::string::npos) return {{}, "it is not text"};
  return document;
}

}  // namespace praxis::app
