// The keys of `[policy.redact]`, in agent files and in the configuration.
#pragma once

#include <array>

#include "app/setting_key.hpp"

namespace praxis::app {

inline constexpr std::string_view kRedactLevels = "off|balanced|strict";
inline constexpr std::string_view kRedactOwn = "decide what others may see of your runs";

/// The keys of a `[policy.redact]` table.
inline constexpr std::array kRedactKeys{
    SettingKey{
        .path = "policy.redact.exports",
        .type = SettingKey::Type::kText,
        .description = "How much is redacted in transcripts as JSON, Markdown and HTML, and in reports",
        .choices = kRedactLevels,
        .own = kRedactOwn},
    SettingKey{.path = "policy.redact.events",
               .type = SettingKey::Type::kText,
               .description = "How much is redacted in events that clients of a server observe",
               .choices = kRedactLevels,
               .own = kRedactOwn},
    SettingKey{
        .path = "policy.redact.results",
        .type = SettingKey::Type::kText,
        .description = "How much is redacted in what tools give, before the model reads it; default: off",
        .choices = kRedactLevels,
        .own = kRedactOwn},
    SettingKey{.path = "policy.redact.personal",
               .type = SettingKey::Type::kFlag,
               .description = "Whether personal data is redacted as well",
               .own = kRedactOwn},
};

}  // namespace praxis::app
