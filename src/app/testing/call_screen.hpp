// Reads the screen that an approver sees back into the call. Written from the description in `call_text.hpp`,
// without any code of the renderer.
#pragma once

#include <algorithm>
#include <clocale>
#include <cstdint>
#include <cwchar>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "praxis/json/json.hpp"

namespace praxis::testing {
namespace screen {

struct LogicalLine {
  bool is_text;
  std::string content;
};

/// Puts broken lines together. `std::nullopt`: a line has another form.
inline std::optional<std::vector<LogicalLine>> logical_lines(std::string_view screen) {
  std::vector<LogicalLine> lines;
  bool in_note = false;
  while (!screen.empty()) {
    const std::size_t end = std::min(screen.find('\n'), screen.size());
    std::string_view row = screen.substr(0, end);
    screen.remove_prefix(std::min(end + 1, screen.size()));
    if (!row.starts_with("  |")) continue;
    row.remove_prefix(3);
    if (row == " >") {
      lines.push_back({true, ""});
    } else if (row.starts_with(" > ")) {
      lines.push_back({true, std::string(row.substr(3))});
    } else if (row.starts_with(" ~ ")) {
      in_note = true;
      continue;
    } else if (row.starts_with(" \\ ") && !lines.empty()) {
      if (!in_note) lines.back().content += row.substr(3);
      continue;
    } else if (row.starts_with(" ") && !row.starts_with(" ...")) {
      lines.push_back({false, std::string(row.substr(1))});
    } else {
      return std::nullopt;
    }
    in_note = false;
  }
  return lines;
}

inline std::string utf8(std::uint32_t c) {
  const auto tail = [&](int shift) { return static_cast<char>(0x80U | (c >> shift & 0x3FU)); };
  if (c < 0x80) return {static_cast<char>(c)};
  if (c < 0x800) return {static_cast<char>(0xC0U | c >> 6U), tail(0)};
  if (c < 0x10000) return {static_cast<char>(0xE0U | c >> 12U), tail(6), tail(0)};
  return {static_cast<char>(0xF0U | c >> 18U), tail(12), tail(6), tail(0)};
}

inline std::uint32_t hex_number(std::string_view digits) {
  return static_cast<std::uint32_t>(std::stoul(std::string(digits), nullptr, 16));
}

/// Resolves the escapes of a text line; `for_json` only that for spaces.
inline std::optional<std::string> unescaped(std::string_view line, bool for_json) {
  std::string out;
  while (!line.empty()) {
    if (line[0] != '\\') {
      out += line[0];
      line.remove_prefix(1);
      continue;
    }
    if (line.size() < 2) return std::nullopt;
    if (line[1] == 's') {
      const std::size_t end = line.find('}');
      if (end == std::string_view::npos || line[2] != '{') return std::nullopt;
      out.append(std::stoul(std::string(line.substr(3, end - 3))), ' ');
      line.remove_prefix(end + 1);
    } else if (for_json) {
      out += line.substr(0, 2);
      line.remove_prefix(2);
    } else if (line[1] == '\\') {
      out += '\\';
      line.remove_prefix(2);
    } else if (line[1] == 'u' && line.size() >= 6) {
      std::uint32_t c = hex_number(line.substr(2, 4));
      line.remove_prefix(6);
      if (c >= 0xD800 && c < 0xDC00 && line.size() >= 6) {
        c = 0x10000 + ((c - 0xD800) << 10U) + (hex_number(line.substr(2, 4)) - 0xDC00);
        line.remove_prefix(6);
      }
      out += utf8(c);
    } else {
      return std::nullopt;
    }
  }
  return out;
}

/// Reads `NAME.NAME[2]."odd name"` from the front of a line; stops at the colon.
inline std::optional<std::vector<Json>> read_path(std::string_view& line) {
  std::vector<Json> path;
  for (;;) {
    if (line.starts_with('[')) {
      const std::size_t end = line.find(']');
      if (end == std::string_view::npos) return std::nullopt;
      path.emplace_back(std::stoll(std::string(line.substr(1, end - 1))));
      line.remove_prefix(end + 1);
    } else if (line.starts_with('"')) {
      std::size_t end = 1;
      while (end < line.size() && line[end] != '"') end += line[end] == '\\' ? 2 : 1;
      const auto text = unescaped(line.substr(0, end + 1), true);
      const auto name = text ? parse_json(*text) : Result<Json>(Json(nullptr));
      if (!name || !name->is_string()) return std::nullopt;
      path.push_back(*name);
      line.remove_prefix(end + 1);
    } else {
      const std::size_t end = line.find_first_of(".[:");
      if (end == 0 || end == std::string_view::npos) return std::nullopt;
      path.emplace_back(line.substr(0, end));
      line.remove_prefix(end);
    }
    if (line.starts_with(": ")) return path;
    if (line.starts_with('.')) line.remove_prefix(1);
  }
}

inline bool put(Json& root, const std::vector<Json>& path, Json value) {
  Json* place = &root;
  for (const Json& part : path) {
    if (part.is_int64()) {
      if (place->is_null()) *place = JsonArray{};
      if (!place->is_array() || place->get_array().size() < static_cast<std::size_t>(part.get_int64()))
        return false;
      auto& list = place->get_array();
      if (list.size() == static_cast<std::size_t>(part.get_int64())) list.emplace_back(nullptr);
      place = &list[static_cast<std::size_t>(part.get_int64())];
    } else {
      if (place->is_null()) *place = JsonObject{};
      if (!place->is_object()) return false;
      place = &place->get_object()[part.get_string()];
    }
  }
  *place = std::move(value);
  return true;
}

/// Reads the value after `NAME: `; takes the lines of a text from `lines`, from `next` on.
inline std::optional<Json> read_value(std::string_view shown, const std::vector<LogicalLine>& lines,
                                      std::size_t& next) {
  if (!shown.starts_with("text of ")) {
    const auto text = unescaped(shown, true);
    auto json = text ? parse_json(*text) : Result<Json>(fail(ErrorCode::kInput, "no value"));
    return json ? std::optional(*std::move(json)) : std::nullopt;
  }
  const std::size_t count = std::stoul(std::string(shown.substr(8)));
  std::string text;
  for (std::size_t i = 0; i < count; ++i, ++next) {
    const auto line =
        next < lines.size() && lines[next].is_text ? unescaped(lines[next].content, false) : std::nullopt;
    if (!line) return std::nullopt;
    text += (i == 0 ? "" : "\n") + *line;
  }
  const std::string size = ", " + std::to_string(text.size()) + " bytes";
  return shown.ends_with(size) ? std::optional<Json>(text) : std::nullopt;
}

/// Decodes valid UTF-8.
inline std::vector<std::uint32_t> code_points(std::string_view text) {
  std::vector<std::uint32_t> points;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xC0U) != 0x80U) {
      points.push_back(byte < 0x80 ? byte : byte & (byte < 0xE0 ? 0x1FU : byte < 0xF0 ? 0x0FU : 0x07U));
    } else {
      points.back() = points.back() << 6U | (byte & 0x3FU);
    }
  }
  return points;
}

}  // namespace screen

/// The call that a screen shows.
struct ScreenCall {
  std::string tool;
  Json arguments;
};

/// Returns the call on the lines with the prefix `  |`; `std::nullopt` if they cannot be read without a
/// doubt, or if a part is left out.
inline std::optional<ScreenCall> read_screen(std::string_view screen) {
  const auto lines = screen::logical_lines(screen);
  if (!lines || lines->empty() || !lines->front().content.starts_with("call ")) return std::nullopt;
  ScreenCall call{lines->front().content.substr(5), JsonObject{}};
  for (std::size_t next = 1; next < lines->size();) {
    const screen::LogicalLine& line = (*lines)[next++];
    if (line.is_text) return std::nullopt;
    std::string_view rest = line.content;
    const auto path = screen::read_path(rest);
    if (!path) return std::nullopt;
    auto value = screen::read_value(rest.substr(2), *lines, next);
    if (!value || !screen::put(call.arguments, *path, *std::move(value))) return std::nullopt;
  }
  return call;
}

/// The rows of a terminal of that width: longer lines continue on the next row.
inline std::vector<std::string> rows_of_terminal(std::string_view screen, std::size_t columns) {
  std::setlocale(LC_CTYPE, "C.UTF-8");
  std::vector<std::string> rows(1);
  std::size_t used = 0;
  for (const std::uint32_t c : screen::code_points(screen)) {
    if (c == '\n') {
      rows.emplace_back();
      used = 0;
      continue;
    }
    const int width = std::max(0, wcwidth(static_cast<wchar_t>(c)));
    if (used + static_cast<std::size_t>(width) > columns) {
      rows.emplace_back();
      used = 0;
    }
    rows.back() += screen::utf8(c);
    used += static_cast<std::size_t>(width);
  }
  return rows;
}

/// Whether the text has a character that a terminal does not show, or shows like a plain space.
inline bool has_hidden_character(std::string_view text) {
  std::setlocale(LC_CTYPE, "C.UTF-8");
  return std::ranges::any_of(screen::code_points(text), [](std::uint32_t c) {
    if (c == '\n') return false;
    const bool is_space = c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x202F ||
                          c == 0x205F || c == 0x3000 || c == 0x2800 || c == 0x3164 || c == 0xFFA0;
    return is_space || wcwidth(static_cast<wchar_t>(c)) <= 0;
  });
}

}  // namespace praxis::testing
