// The files of an editor that speaks the Agent Client Protocol: `fs/read_text_file`, `fs/write_text_file`.
#pragma once

#include <functional>
#include <string>

#include "praxis/base/ids.hpp"
#include "protocols/acp_peer.hpp"
#include "tools/editor_files.hpp"

namespace praxis::protocols {

/// What the editor says that it does with files.
struct AcpFileAccess {
  bool reads = false;
  bool writes = false;
};

/// The files in one folder that an editor has open. Thread-safe.
class AcpFiles final : public EditorFiles {
 public:
  /// The conversation to which a session belongs; empty: none of this editor.
  using ConversationOf = std::function<SessionId(const SessionId& session)>;

  /// `folder` is the folder as the editor names it. The peer must live longer than this.
  AcpFiles(AcpPeer& peer, AcpFileAccess access, const std::string& folder, ConversationOf conversation_of);

  Result<std::optional<std::string>> read(const ToolContext& context, const std::string& path) override;
  Result<bool> write(const ToolContext& context, const std::string& path, const std::string& text) override;

 private:
  JsonObject file(const SessionId& conversation, const std::string& path) const;

  AcpPeer& peer_;
  const AcpFileAccess access_;
  const std::string folder_;  ///< as the editor names it
  const std::string real_;    ///< the same without links
  const ConversationOf conversation_of_;
};

}  // namespace praxis::protocols
