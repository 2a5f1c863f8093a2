#include "protocols/acp_files.hpp"

#include <filesystem>
#include <system_error>
#include <utility>

#include "app/plain_text.hpp"
#include "base/path_below.hpp"
#include "praxis/base/reach.hpp"

namespace praxis::protocols {
namespace {

constexpr std::size_t kMostColumns = 300;  ///< of what the editor says about an error

std::string folder_without_links(const std::string& folder) {
  std::error_code failed;
  const auto real = std::filesystem::canonical(folder, failed);
  return failed ? folder : real.string();
}

std::unexpected<Error> no_answer(const std::string& path, Reach reach) {
  return fail(with_reach(make_error(ErrorCode::kCancelled, "the editor gave no answer about \"" + path + '"'),
                         reach));
}

}  // namespace

AcpFiles::AcpFiles(AcpPeer& peer, AcpFileAccess access, const std::string& folder,
                   ConversationOf conversation_of)
    : peer_(peer),
      access_(access),
      folder_(folder),
      real_(folder_without_links(folder)),
      conversation_of_(std::move(conversation_of)) {}

/// An editor knows its files by the names that lead through the links of its own folder.
JsonObject AcpFiles::file(const SessionId& conversation, const std::string& path) const {
  const std::string_view below = path_below(real_, path);
  const std::string named =
      below.empty() || below == "." ? path : (std::filesystem::path(folder_) / below).string();
  return {{"sessionId", conversation.str()}, {"path", named}};
}

Result<std::optional<std::string>> AcpFiles::read(const ToolContext& context, const std::string& path) {
  if (!access_.reads) return std::nullopt;
  const SessionId conversation = conversation_of_(context.session);
  if (conversation.empty()) return std::nullopt;
  const auto answer = peer_.answer_to("fs/read_text_file", file(conversation, path), context.stop);
  if (!answer) return no_answer(path, Reach::kNotSent);
  // An editor refuses what is outside of its project, or no text for it.
  if (answer->kind != McpMessage::Kind::kResult) return std::nullopt;
  const Json& content = json_at(answer->body, "content");
  if (!content.is_string()) return std::nullopt;
  return std::string(content.get_string());
}

Result<bool> AcpFiles::write(const ToolContext& context, const std::string& path, const std::string& text) {
  if (!access_.writes) return false;
  const SessionId conversation = conversation_of_(context.session);
  if (conversation.empty()) return false;
  JsonObject params = file(conversation, path);
  params["content"] = text;
  const auto answer = peer_.answer_to("fs/write_text_file", std::move(params), context.stop);
  if (!answer) return no_answer(path, Reach::kSent);
  if (answer->kind == McpMessage::Kind::kResult) return true;
  const std::string why = app::one_line(json_string(answer->body, "message"), kMostColumns);
  return fail(with_reach(make_error(ErrorCode::kTool, "the editor did not write \"" + path + "\": " + why),
                         Reach::kAnswered));
}

}  // namespace praxis::protocols
