// Messages and their parts: one neutral form into which every provider's form is mapped without loss. Besides
// the neutral fields, a part keeps verbatim what its vendor wants back (`VendorState`).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "praxis/base/ids.hpp"
#include "praxis/base/time.hpp"
#include "praxis/base/variant.hpp"
#include "praxis/domain/usage.hpp"
#include "praxis/json/json.hpp"

#pragma GCC visibility push(default)
namespace praxis {

/// The superset of both role vocabularies (docs/vocabulary.md holds the mapping).
enum class Role : std::uint8_t { kSystem, kDeveloper, kUser, kAssistant, kTool };
std::string_view to_string(Role role);
std::optional<Role> role_from(std::string_view name);

/// Opaque state of the vendor and model that produced an item (signature, encrypted reasoning, item id). Sent
/// back only to the same vendor and model; others get the neutral fields only.
struct VendorState {
  std::string vendor;  ///< the provider part of the model's name
  std::string model;   ///< as requested
  /// Text of a JSON object, byte-exact: what the neutral fields do not express.
  std::string raw;
  bool operator==(const VendorState&) const = default;
};
/// Shared and immutable, because parts are copied along with messages; null if the part has no vendor state.
using VendorStatePtr = std::shared_ptr<const VendorState>;

/// The source of a statement in the text, as far as the vendor reports it.
struct Citation {
  std::string url;  ///< or the name of a document
  std::string title;
  std::string quote;  ///< the cited words
  bool operator==(const Citation&) const = default;
};
struct TextPart {
  std::string text;
  VendorStatePtr vendor = nullptr;
  std::vector<Citation> citations = {};
};
struct ReasoningPart {
  std::string text;     ///< raw reasoning, as far as the vendor shows it
  std::string summary;  ///< the vendor's summary of it
  VendorStatePtr vendor;
};
struct ToolCallPart {
  CallId id;
  std::string name;
  std::string arguments;  ///< exact text from the model; empty, white space and `null` mean `{}`
  bool valid = true;      ///< false: cut off or unparsable; displayed, but never run
  VendorStatePtr vendor;
};
/// The bytes of an image or file: inline, or where to find them. Exactly one of `data` and `url` is
/// non-empty.
struct MediaSource {
  std::string mime;
  std::string data;  ///< raw bytes
  std::string url;
};
struct ImagePart {
  MediaSource source;
  VendorStatePtr vendor;
};
struct FilePart {
  MediaSource source;
  std::string name;
  VendorStatePtr vendor;
};
enum class ToolStatus : std::uint8_t { kOk, kError };
struct ToolResultPart {
  CallId id;
  std::string name;
  ToolStatus status = ToolStatus::kOk;
  std::string text;  ///< what the model reads
  std::vector<ImagePart> images = {};
  std::vector<FilePart> files = {};
};
struct RefusalPart {
  std::string text;
  VendorStatePtr vendor;
};
/// Replaces everything before it, which was summarised.
struct CompactionPart {
  std::string summary;
  VendorStatePtr vendor;
};
/// An item that only its vendor understands, such as a search on the vendor's side: kept and sent back, never
/// interpreted.
struct OpaquePart {
  std::string kind;  ///< the vendor's name for it, such as `web_search_call`
  VendorStatePtr vendor;
};

using AnyPart = std::variant<TextPart, ReasoningPart, ToolCallPart, ToolResultPart, ImagePart, FilePart,
                             RefusalPart, CompactionPart, OpaquePart>;
extern template class Variant<AnyPart>;
using Part = Variant<AnyPart>;

/// `Message::created` is set by the session that stores it.
struct Message {
  MessageId id;
  Role role = Role::kUser;
  std::vector<Part> parts;
  UnixMillis created;
  Json metadata;  ///< defined by the caller; null if unset
  /// What producing the message took; zero except for messages of a model; not part of the JSON form.
  Usage usage;

  /// The text parts, concatenated.
  std::string text() const;
};
using MessagePtr = std::shared_ptr<const Message>;

/// Returns a message with one text part.
Message text_message(Role role, std::string text);

/// A conversation outside any session: what callers import, export and start from.
struct Conversation {
  std::string id;
  std::vector<Message> messages;
  Json metadata;
};

/// JSON form `{id?, role, created_at?, content: [{type, ...}], metadata?}`; types `text`, `reasoning`,
/// `tool_call`, `tool_result`, `image`, `file`, `refusal`, `compaction`, `opaque`; media bytes in base64.
Json to_json(const Message& message);
Json to_json(const Part& part);
/// Error: `kInput`, naming the offending field.
Result<Message> message_from_json(const Json& json);
Result<Part> part_from_json(const Json& json);
Json to_json(const Conversation& conversation);
Result<Conversation> conversation_from_json(const Json& json);

/// The two sets of role names that hosts and vendors use: `kFourRoles` has system, user, assistant, tool;
/// `kThreeRoles` has user, assistant, developer, with tool results inside user messages.
enum class RoleVocabulary : std::uint8_t { kFourRoles, kThreeRoles };
/// The name of a message's role in a vocabulary; `role_from_view` is the inverse of `role_view` for every
/// role.
struct RoleView {
  std::string role;
  bool carries_tool_results = false;
  bool is_instruction_alias = false;  ///< system expressed as developer, or the reverse
};
RoleView role_view(Role role, RoleVocabulary vocabulary);
std::optional<Role> role_from_view(const RoleView& view, RoleVocabulary vocabulary);

}  // namespace praxis
#pragma GCC visibility pop
