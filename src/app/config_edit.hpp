// Changes one setting in the text of a configuration file; the rest of the file stays as its owner wrote it.
#pragma once

#include <string>
#include <string_view>

#include "app/setting_key.hpp"
#include "praxis/base/result.hpp"

namespace praxis::app {

/// The key that a dotted name such as `limits.max_usd` or `models."house:big-1.5".images` means. Error
/// `kInput` names the nearest known one.
Result<SettingKey> find_key(std::string_view name);
/// A value as typed on the command line, as the key's type. Error `kInput`.
Result<Json> value_for(const SettingKey& key, const std::string& text);
/// The text of the file `name` with the setting. Error `kInput`: the text is not valid, or holds the setting
/// in a form that only its owner can change, such as a value of several lines.
Result<std::string> with_setting(const std::string& text, const std::string& name, std::string_view key,
                                 const Json& value);
/// Replaces a file of the user's as a whole, through links; makes its folder. Only the user can read it.
/// Error `kInput`.
Status replace_file(const std::string& path, std::string_view text);

}  // namespace praxis::app
