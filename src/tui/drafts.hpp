// What the user was typing and has sent, kept on disk: a draft survives the end of the process.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "tui/composer.hpp"

namespace praxis::tui {

/// Files in the user's state folder, which only the user can read. Errors are ignored: a chat without a place
/// for drafts works too.
class Drafts {
 public:
  /// An empty folder keeps nothing.
  explicit Drafts(std::filesystem::path folder);

  /// The draft of a run, or of a new chat if `key` names a folder (see `key_of_new`); empty: none.
  std::string load(const std::string& key) const;
  /// Replaces the draft; an empty one is removed.
  void save(const std::string& key, std::string_view draft);
  /// The key of a chat in the current folder that has no run yet.
  static std::string key_of_new();

  /// The last messages and shell commands of all chats, the oldest first.
  std::vector<HistoryEntry> history() const;
  void remember(std::string_view sent, HistoryKind kind = HistoryKind::kMessage) const;

 private:
  std::filesystem::path file_of(const std::string& key) const;

  std::filesystem::path folder_;
  std::string saved_key_, saved_;  ///< what is on disk
};

}  // namespace praxis::tui
