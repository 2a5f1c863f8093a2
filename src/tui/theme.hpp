// The colours of a chat, by what they say, for dark and light terminals and for those of 16 colours.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace praxis::tui {

enum class Theme : std::uint8_t {
  kNone,  ///< no styles: `NO_COLOR`, a dumb terminal, `--plain`
  kAnsi,  ///< the terminal's own 16 colours
  kDark,  ///< of its 256 colours those that are read well on a dark background
  kLight,
};

/// Text in the styles of a theme.
struct Styles {
  Theme theme = Theme::kNone;
  std::string dim(std::string_view text) const { return in(Role::kFaint, text); }
  std::string bold(std::string_view text) const { return in(Role::kBold, text); }
  std::string error(std::string_view text) const { return in(Role::kError, text); }
  std::string warning(std::string_view text) const { return in(Role::kWarning, text); }
  std::string added(std::string_view text) const { return in(Role::kAdded, text); }
  std::string removed(std::string_view text) const { return in(Role::kRemoved, text); }

 private:
  enum class Role : std::uint8_t { kFaint, kBold, kError, kWarning, kAdded, kRemoved };
  std::string in(Role role, std::string_view text) const;
};

/// What a chat begins with.
struct ThemeChoice {
  Theme theme = Theme::kNone;
  bool asks = false;  ///< the terminal is asked for its background, which may choose another theme
};

/// Asks a terminal for its background (OSC 11). Its answer is read as a key.
inline constexpr std::string_view kAskBackground = "\x1b]11;?\x1b\\";

/// The theme for an answer such as `rgb:1e1e/1e1e/1e1e`; `std::nullopt` if it is not a colour.
std::optional<Theme> theme_for_background(std::string_view color);
/// The theme for a setting: `light`, `dark`, `ansi`, or `auto`, for which the variables `TERM`, `COLORTERM`
/// and `COLORFGBG` are read: a terminal that may have only 16 colours is not asked.
ThemeChoice choose_theme(std::string_view setting,
                         const std::function<std::string(const char* name)>& variable);

}  // namespace praxis::tui
