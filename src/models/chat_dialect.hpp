// How servers of the Chat Completions family differ: data, so that another server is another row.
#pragma once

#include <string_view>

namespace praxis::chat {

struct Dialect {
  std::string_view vendor;            ///< as the provider part of a model's name
  std::string_view instruction_role;  ///< `developer` or `system`
  std::string_view max_tokens_field;
};

/// OpenAI itself: its reasoning models refuse the old names, and its other models take the new ones.
inline constexpr Dialect kOpenAi{"openai", "developer", "max_completion_tokens"};
/// Servers that speak OpenAI's protocol: most know the old names only.
inline constexpr Dialect kCompatible{"openai", "system", "max_tokens"};

}  // namespace praxis::chat
