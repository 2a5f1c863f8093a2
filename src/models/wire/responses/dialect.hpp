// Differences among Responses servers, as data: another server is another table row.
#pragma once

#include <cstdint>
#include <string>

#include "praxis/base/result.hpp"
#include "praxis/json/describe.hpp"

namespace praxis::wire::responses {

/// The models for which encrypted reasoning is requested.
enum class Encrypted : std::uint8_t { kReasoningModels, kAlways, kNever };
PRAXIS_ENUM(Encrypted, kReasoningModels, kAlways, kNever)

/// The flags of `CodecTarget::dialect` that this protocol knows, under the same names.
struct Dialect {
  /// False: the server rejects the field. True: send `"store": false`.
  bool send_store = true;
  /// `reasoning_models` (according to the catalogue), `always` or `never`.
  Encrypted encrypted_reasoning = Encrypted::kReasoningModels;
  /// Whether to send back reasoning without an encrypted payload. Servers that look up its id in their store
  /// reject it.
  bool plain_reasoning = false;
  bool item_ids = true;                ///< send messages and calls back with their original ids
  std::string reasoning_summary = {};  ///< `auto`, `concise`, `detailed`; empty: not requested
  bool strict_tools = false;           ///< enforce the schemas of tools that qualify
  bool native_compaction = false;      ///< let the server compact the conversation
  bool prompt_cache_key =
      true;  ///< send a key that identifies the conversation for the server's prefix cache
  bool max_output_tokens = true;  ///< the server accepts this parameter
  bool developer_role = true;     ///< false: send developer messages as system messages
  bool media_in_results =
      true;  ///< false: send images and files of tool results in a user message after them
};
PRAXIS_FIELDS(Dialect, send_store, encrypted_reasoning, plain_reasoning, item_ids, reasoning_summary,
              strict_tools, native_compaction, prompt_cache_key, max_output_tokens, developer_role,
              media_in_results)

/// Error `kInput`: an unknown flag, or a value of the wrong type.
Result<Dialect> read_dialect(const Json& flags);

}  // namespace praxis::wire::responses
