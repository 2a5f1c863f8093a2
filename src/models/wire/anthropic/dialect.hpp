// How servers of the Messages family differ: data, so that another server is another row.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "praxis/base/result.hpp"
#include "praxis/json/json.hpp"

namespace praxis::messages {

/// Which blocks of a request are marked as ends of a prefix worth caching, beside the last tool and the last
/// block of instructions: the server finds the newest block by itself, we mark it, or nothing is marked at
/// all.
enum class CacheMarks : std::uint8_t { kAutomatic, kNewest, kNone };

/// The flags of `CodecTarget::dialect` that this protocol knows, under the same names.
struct Dialect {
  std::string path = "/v1/messages";    ///< with `{model}` in it, the body names no model
  std::string stream_path = {};         ///< of streamed answers; empty: the same
  std::string version = "2023-06-01";   ///< header `anthropic-version`; empty: not sent
  std::string body_version = {};        ///< field `anthropic_version`; empty: not sent
  std::vector<std::string> betas = {};  ///< header `anthropic-beta`
  std::string session_header = {};  ///< header that carries the session's id, for servers that cache by it
  std::int64_t max_tokens = 8192;   ///< where neither the caller nor the catalogue gives a limit
  bool adaptive_thinking = false;   ///< thinks by `effort`; false: by a budget of tokens
  std::string thinking_display = "summarized";      ///< asked for with adaptive thinking; empty: not sent
  bool empty_signatures = false;                    ///< takes back thinking that it did not sign
  bool strict_tools = false;                        ///< can hold tool calls to their schema
  CacheMarks cache_marks = CacheMarks::kAutomatic;  ///< `automatic`, `newest` or `none`
  bool cache_tools = true;                          ///< takes a mark on a tool
  std::string compaction_edit = {};  ///< type of the context edit by which the server compacts; empty: none
  std::string compaction_beta = {};  ///< one more of `betas`, which that edit needs
};

/// Error `kInput`: an unknown flag, or a value of the wrong type.
Result<Dialect> read_dialect(const Json& flags);

}  // namespace praxis::messages
