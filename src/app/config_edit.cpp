#include "app/config_edit.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <vector>

#include "app/config_keys.hpp"
#include "app/hints.hpp"
#include "base/private_folders.hpp"
#include "base/write_all.hpp"
#include "praxis/base/suggest.hpp"

namespace praxis::app {
namespace {

namespace fs = std::filesystem;
using Path = std::vector<std::string>;
using Type = SettingKey::Type;

/// The members that lead to the only value of nested objects.
Path path_in(const Json& json) {
  Path path;
  for (const Json* at = &json; at->is_object() && at->get_object().size() == 1;) {
    const auto& member = *at->get_object().begin();
    path.emplace_back(member.key());
    at = &member.value();
  }
  return path;
}

/// The parts of a key as TOML writes it, `limits.max_usd` or `models."a.b".images`; empty for other text.
Path parts_of(std::string_view key) {
  const auto document = TomlDocument::parse(std::string(key) + " = 0", "");
  return document ? path_in(document->json()) : Path{};
}

/// The parts of a line `[limits]`; `std::nullopt` if it begins no table.
std::optional<Path> table_of(const std::string& line) {
  const auto first = line.find_first_not_of(" \t");
  if (first == std::string::npos || line[first] != '[' || line.compare(first, 2, "[[") == 0)
    return std::nullopt;
  const auto document = TomlDocument::parse(line + "\nx = 0", "");
  if (!document) return std::nullopt;
  Path path = path_in(document->json());
  if (!path.empty()) path.pop_back();
  return path;
}

std::vector<std::string> split_lines(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

std::string text_of_lines(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + '\n';
  return text;
}

std::string quoted_if_needed(const std::string& part) {
  const bool is_bare = !part.empty() && std::ranges::all_of(part, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  });
  return is_bare ? part : to_json_text(Json(part));
}

std::string dotted(const Path& path) {
  std::string text;
  for (const std::string& part : path) text += (text.empty() ? "" : ".") + quoted_if_needed(part);
  return text;
}

Json with_member(Json json, const Path& path, std::size_t depth, const Json& value) {
  if (depth == path.size()) return value;
  if (!json.is_object()) json = JsonObject{};
  Json& member = json.get_object()[path[depth]];
  member = with_member(std::move(member), path, depth + 1, value);
  return json;
}

/// Where the setting is, or would be, in the lines of a file.
struct Spot {
  std::optional<std::size_t> line;  ///< of the assignment
  std::size_t after_root = 0;       ///< end of the lines before the first table
  std::optional<std::size_t> end;   ///< end of the lines of its table, if the file has it
};

Spot find_spot(const std::vector<std::string>& lines, const Path& path) {
  const Path own_table(path.begin(), path.end() - 1);
  Spot spot;
  Path table;
  bool in_root = true;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (auto begun = table_of(lines[i])) {
      table = *std::move(begun);
      in_root = false;
      if (table == own_table) spot.end = i + 1;
      continue;
    }
    const bool is_blank = lines[i].find_first_not_of(" \t\r") == std::string::npos;
    if (in_root && !is_blank) spot.after_root = i + 1;
    if (!in_root && table == own_table && !is_blank) spot.end = i + 1;
    const auto equals = lines[i].find('=');
    if (equals == std::string::npos) continue;
    Path whole = table;
    for (std::string& part : parts_of(lines[i].substr(0, equals))) whole.push_back(std::move(part));
    if (whole == path && whole.size() > table.size()) spot.line = i;
  }
  return spot;
}

/// The line with another value, with and without what may be its comment.
std::vector<std::string> lines_with(const std::string& line, const std::string& value) {
  const std::string start = line.substr(0, line.find('=') + 1) + ' ' + value;
  const auto comment = line.rfind('#');
  if (comment == std::string::npos) return {start};
  return {start + "  " + line.substr(comment), start};
}

/// The texts that may hold the setting, best first.
std::vector<std::string> candidates(const std::string& text, const Path& path, const std::string& value) {
  std::vector<std::string> lines = split_lines(text), texts;
  const Spot spot = find_spot(lines, path);
  if (spot.line) {
    for (const std::string& changed : lines_with(lines[*spot.line], value)) {
      lines[*spot.line] = changed;
      texts.push_back(text_of_lines(lines));
    }
    return texts;
  }
  const std::string added = quoted_if_needed(path.back()) + " = " + value;
  const auto at = [&](std::size_t line) { return lines.begin() + static_cast<std::ptrdiff_t>(line); };
  if (path.size() == 1) {
    lines.insert(at(spot.after_root), added);
  } else if (spot.end) {
    lines.insert(at(*spot.end), added);
  } else {
    if (!lines.empty()) lines.emplace_back();
    lines.push_back('[' + dotted(Path(path.begin(), path.end() - 1)) + ']');
    lines.push_back(added);
  }
  return {text_of_lines(lines)};
}

/// Whether the parts of a name fit a key of the list, where `*` stands for any name.
bool is_listed_as(std::string_view listed, const Path& path) {
  Path wanted;
  while (!listed.empty()) {
    const std::size_t end = std::min(listed.find('.'), listed.size());
    wanted.emplace_back(listed.substr(0, end));
    listed.remove_prefix(std::min(end + 1, listed.size()));
  }
  return std::ranges::equal(wanted, path,
                            [](const std::string& a, const std::string& b) { return a == "*" || a == b; });
}

}  // namespace

Result<SettingKey> find_key(std::string_view name) {
  const Path path = parts_of(name);
  std::vector<std::string> known;
  for (const SettingKey& key : config_keys()) {
    if (!path.empty() && is_listed_as(key.path, path)) return key;
    known.emplace_back(key.path);
  }
  const auto meant = closest(name, known);
  return fail(usage_error("there is no setting \"" + std::string(name) + '"' +
                              (meant ? "; did you mean \"" + *meant + "\"?" : ""),
                          "praxis config show lists them"));
}

Result<Json> value_for(const SettingKey& key, const std::string& text) {
  Json value(text);
  if (key.type != Type::kText) value = parse_json(text).value_or(value);
  if (const std::string wrong = why_unfit(key, value); !wrong.empty())
    return fail(usage_error('"' + std::string(key.path) + "\" " + wrong));
  if (value.is_object() || (value.is_array() && key.type == Type::kTables))
    return fail(usage_error('"' + std::string(key.path) + "\" has keys of its own", "praxis config edit"));
  return value;
}

Result<std::string> with_setting(const std::string& text, const std::string& name, std::string_view key,
                                 const Json& value) {
  const auto before = TomlDocument::parse(text, name);
  if (!before) return fail(before.error());
  const Path path = parts_of(key);
  const std::string wanted = to_canonical_json(with_member(before->json(), path, 0, value));
  // JSON and TOML write strings, numbers, flags and arrays of them in the same way.
  for (std::string& changed : candidates(text, path, to_json_text(value))) {
    const auto after = TomlDocument::parse(changed, name);
    if (after && to_canonical_json(after->json()) == wanted) return std::move(changed);
  }
  return fail(usage_error(name + " holds \"" + std::string(key) + "\" in a form that cannot be changed here",
                          "praxis config edit"));
}

Status replace_file(const std::string& given, std::string_view text) {
  std::error_code unmade;
  const std::string path = fs::weakly_canonical(given, unmade);  // a link stays one
  const auto failed = [&] {
    return fail(usage_error("cannot write \"" + path + "\": " + std::strerror(errno)));
  };
  make_private_folders(fs::path(path).parent_path());  // a failure shows when the file is made
  std::string fresh = path + ".XXXXXX";
  const int fd = mkostemp(fresh.data(), O_CLOEXEC);
  if (fd < 0) return failed();
  bool good = fchmod(fd, 0600) == 0 && write_all(fd, text) == 0 && fsync(fd) == 0;
  close(fd);
  good = good && rename(fresh.c_str(), path.c_str()) == 0;
  if (good) return {};
  const auto why = failed();
  unlink(fresh.c_str());
  return why;
}

}  // namespace praxis::app
