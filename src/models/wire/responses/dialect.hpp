// How servers of the Responses family differ: data, so that another server is another row.
#pragma once

#include <cstdint>
#include <string>

#include "praxis/base/result.hpp"
#include "praxis/json/json.hpp"

namespace praxis::responses {

/// Of which models the encrypted form of their reasoning is asked for.
enum class Encrypted : std::uint8_t { kReasoningModels, kAlways, kNever };

/// The flags of `CodecTarget::dialect` that this protocol knows, under the same names.
struct Dialect {
  /// Some servers refuse the field; the others are told to store nothing.
  bool send_store = true;
  /// `reasoning_models` (those the catalogue knows as such), `always` or `never`.
  Encrypted encrypted_reasoning = Encrypted::kReasoningModels;
  /// Whether reasoning without an encrypted payload goes back too. Servers that look its id up in what they
  /// stored refuse it.
  bool plain_reasoning = false;
  bool item_ids = true;                ///< messages and calls go back with the ids that they came with
  std::string reasoning_summary = {};  ///< `auto`, `concise`, `detailed`; empty: none is asked for
  bool strict_tools = false;           ///< hold calls to their schema wherever the schema allows it
  bool native_compaction = false;      ///< the server may shorten the conversation by itself
  bool prompt_cache_key = true;        ///< name the conversation, so that its prefix is found in the cache
  bool max_output_tokens = true;       ///< the parameter is known
  bool developer_role = true;          ///< else developer messages go out as system messages
  bool media_in_results = true;        ///< else images and files of tool results follow in a user message
};

/// Error `kInput`: an unknown flag, or a value of the wrong type.
Result<Dialect> read_dialect(const Json& flags);

}  // namespace praxis::responses
