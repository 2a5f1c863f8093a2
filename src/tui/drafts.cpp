#include "tui/drafts.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <system_error>

#include "base/file_descriptor.hpp"
#include "base/write_all.hpp"
#include "praxis/base/digest.hpp"
#include "praxis/json/json.hpp"

namespace praxis::tui {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostDraft = std::size_t{8} << 20U;    ///< bytes
constexpr std::size_t kMostHistory = std::size_t{1} << 20U;  ///< bytes that are read
constexpr std::size_t kMostEntry = std::size_t{16} << 10U;   ///< bytes of one message in the history
constexpr const char* kHistory = "history.jsonl";
constexpr const char* kShell = "shell";  ///< the key of a shell command; a message is a string

bool write_whole(const fs::path& path, std::string_view bytes, int flags) {
  const FileDescriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | flags, 0600));
  return file.get() >= 0 && write_all(file.get(), bytes) == 0;
}

std::string read_end(const fs::path& path, std::size_t most) {
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  if (!in) return "";
  const auto size = static_cast<std::size_t>(std::max<std::streamoff>(in.tellg(), 0));
  in.seekg(static_cast<std::streamoff>(size - std::min(size, most)));
  std::string text(std::min(size, most), '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  return text;
}

}  // namespace

Drafts::Drafts(fs::path folder) : folder_(std::move(folder)) {
  if (folder_.empty()) return;
  std::error_code failed;
  fs::create_directories(folder_, failed);
  fs::permissions(folder_, fs::perms::owner_all, failed);
  if (failed) folder_.clear();
}

fs::path Drafts::file_of(const std::string& key) const { return folder_ / ("draft-" + key); }

std::string Drafts::load(const std::string& key) const {
  return folder_.empty() ? "" : read_end(file_of(key), kMostDraft);
}

void Drafts::save(const std::string& key, std::string_view draft) {
  if (folder_.empty() || (key == saved_key_ && draft == saved_)) return;
  saved_key_ = key;
  saved_ = draft;
  std::error_code ignored;
  if (draft.empty()) {
    fs::remove(file_of(key), ignored);
    return;
  }
  // Another file first, so that a kill leaves the old draft or the new one.
  const fs::path next = file_of(key) += ".next";
  if (write_whole(next, draft, O_TRUNC)) fs::rename(next, file_of(key), ignored);
}

std::string Drafts::key_of_new() {
  std::error_code failed;
  return "new-" + digest_of(fs::current_path(failed).string()).hex(8);
}

std::vector<HistoryEntry> Drafts::history() const {
  std::vector<HistoryEntry> sent;
  if (folder_.empty()) return sent;
  const std::string text = read_end(folder_ / kHistory, kMostHistory);
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const auto entry = parse_json(std::string_view(text).substr(begin, end - begin));
    if (entry && entry->is_string())
      sent.push_back({std::string(entry->get_string()), HistoryKind::kMessage});
    if (std::string line = entry ? json_string(*entry, kShell) : ""; !line.empty())
      sent.push_back({std::move(line), HistoryKind::kShellCommand});
    begin = end + 1;
  }
  return sent;
}

void Drafts::remember(std::string_view sent, HistoryKind kind) const {
  if (folder_.empty() || sent.size() > kMostEntry) return;
  const Json entry = kind == HistoryKind::kShellCommand ? Json(JsonObject{{kShell, sent}}) : Json(sent);
  write_whole(folder_ / kHistory, to_json_text(entry) + '\n', O_APPEND);
}

}  // namespace praxis::tui
