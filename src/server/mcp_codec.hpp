// A turn as the answer to a call of a tool over MCP.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "mcp/server_answers.hpp"
#include "server/mcp_sessions.hpp"
#include "server/turn_follower.hpp"

namespace praxis::server {

class McpCodec final : public TurnCodec {
 public:
  /// The request.
  struct Form {
    Json id;
    Json progress_token;  ///< null: no progress is reported
    bool is_stateless = false;
  };
  McpCodec(Form form, McpServed served, std::shared_ptr<McpRunningCall> call)
      : form_(std::move(form)), served_(std::move(served)), call_(std::move(call)) {}
  /// The run of the call. Call it before the first event.
  void set_run(SessionId run) { run_ = std::move(run); }

  bool take(const Event& event, std::string& out) override;
  void take_wait(const std::vector<ParkedStep>& pending, std::string& out) override;
  void take_error(const Error& error, std::string& out) override;
  bool has_begun() const override { return true; }
  HttpAnswer answer() const override;

 private:
  void end(const ServedAnswer& answer, std::string& out);

  const Form form_;
  const McpServed served_;
  const std::shared_ptr<McpRunningCall> call_;
  SessionId run_;
  std::int64_t steps_ = 0;
  std::string text_;  ///< the answer; empty until the end
  bool has_ended_ = false;
};

}  // namespace praxis::server
