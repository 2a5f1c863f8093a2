#include "snapshots/file_state.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace praxis {
namespace {

/// Takes the text up to `end`, which is left out, off the front. `std::nullopt`: there is no such character.
std::optional<std::string_view> take_until(std::string_view& text, char end) {
  const auto at = text.find(end);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view taken = text.substr(0, at);
  text.remove_prefix(at + 1);
  return taken;
}

template <class Number>
bool read_number(std::string_view& text, Number& number) {
  const auto digits = take_until(text, ' ');
  if (!digits) return false;
  const auto [end, error] = std::from_chars(digits->data(), digits->data() + digits->size(), number);
  return error == std::errc{} && end == digits->data() + digits->size();
}

std::int64_t nanoseconds(const timespec& time) { return time.tv_sec * 1'000'000'000 + time.tv_nsec; }

}  // namespace

std::vector<PathChange> differences(const FileStates& before, const FileStates& after) {
  std::vector<PathChange> changes;
  const FileState missing;
  for (const auto& [path, state] : before) {
    const auto now = after.find(path);
    const FileState& then = now == after.end() ? missing : now->second;
    if (state != then) changes.push_back({path, state, then});
  }
  for (const auto& [path, state] : after) {
    if (!before.contains(path) && state != missing) changes.push_back({path, missing, state});
  }
  std::ranges::sort(changes, {}, &PathChange::path);
  return changes;
}

FileState unkept_state(const struct stat& about) {
  const std::string identity = std::to_string(about.st_dev) + ' ' + std::to_string(about.st_ino) + ' ' +
                               std::to_string(about.st_size) + ' ' +
                               std::to_string(nanoseconds(about.st_mtim)) + ' ' +
                               std::to_string(nanoseconds(about.st_ctim));
  FileState state;
  state.kind = FileState::Kind::kUnkept;
  state.size = S_ISREG(about.st_mode) ? static_cast<std::uint64_t>(about.st_size) : 0;
  state.digest = digest_of(identity);
  return state;
}

std::string packed_states(const FileStates& states) {
  std::string text;
  for (const auto& [path, state] : states) {
    text += path;
    text += '\0';
    text += std::to_string(static_cast<unsigned>(state.kind)) + ' ' + std::to_string(state.mode) + ' ' +
            std::to_string(state.size) + ' ' + state.digest.hex() + '\n';
  }
  return text;
}

std::optional<FileStates> unpacked_states(std::string_view text) {
  FileStates states;
  while (!text.empty()) {
    const auto path = take_until(text, '\0');
    FileState state;
    unsigned kind = 0;
    if (!path || !read_number(text, kind) || !read_number(text, state.mode) || !read_number(text, state.size))
      return std::nullopt;
    const auto hex = take_until(text, '\n');
    const auto digest = hex ? Digest::from_hex(*hex) : std::nullopt;
    if (!digest || kind > static_cast<unsigned>(FileState::Kind::kUnkept)) return std::nullopt;
    state.kind = static_cast<FileState::Kind>(kind);
    state.digest = *digest;
    states.insert_or_assign(states.end(), std::string(*path), state);
  }
  return states;
}

}  // namespace praxis
