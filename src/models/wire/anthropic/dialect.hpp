// Differences among Messages servers, as data: another server is another table row.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "praxis/base/result.hpp"
#include "praxis/json/describe.hpp"

namespace praxis::wire::messages {

/// How the end of the cacheable prefix is marked, in addition to the last tool and the last block of
/// instructions: the server finds the newest block itself, we mark it, or nothing is marked at all.
enum class CacheMarks : std::uint8_t { kAutomatic, kNewest, kNone };
PRAXIS_ENUM(CacheMarks, kAutomatic, kNewest, kNone)

/// The flags of `CodecTarget::dialect` that this protocol knows, under the same names.
struct Dialect {
  std::string path = "/v1/messages";    ///< if it contains `{model}`, the body does not name the model
  std::string stream_path = {};         ///< for streamed answers; empty: same as `path`
  std::string version = "2023-06-01";   ///< header `anthropic-version`; empty: not sent
  std::string body_version = {};        ///< field `anthropic_version`; empty: not sent
  std::vector<std::string> betas = {};  ///< values of the header `anthropic-beta`
  /// Header that carries the session id, for servers that cache by it.
  std::string session_header = {};
  std::int64_t max_tokens = 8192;  ///< default if neither the caller nor the catalogue has a limit
  bool adaptive_thinking = false;  ///< reasoning is set by `effort`; false: by a token budget
  std::string thinking_display = "summarized";      ///< requested with adaptive thinking; empty: not sent
  bool empty_signatures = false;                    ///< accepts unsigned reasoning
  bool strict_tools = false;                        ///< can enforce the schema of tool calls
  CacheMarks cache_marks = CacheMarks::kAutomatic;  ///< `automatic`, `newest` or `none`
  bool cache_tools = true;                          ///< accepts a cache mark on a tool
  std::string compaction_edit = {};  ///< type of the context edit for server-side compaction; empty: none
  std::string compaction_beta = {};  ///< additional value of `betas` that this edit requires
};
PRAXIS_FIELDS(Dialect, path, stream_path, version, body_version, betas, session_header, max_tokens,
              adaptive_thinking, thinking_display, empty_signatures, strict_tools, cache_marks, cache_tools,
              compaction_edit, compaction_beta)

/// Error `kInput`: an unknown flag, or a value of the wrong type.
Result<Dialect> read_dialect(const Json& flags);

}  // namespace praxis::wire::messages
