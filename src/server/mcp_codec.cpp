#include "server/mcp_codec.hpp"

#include "app/mcp_agent_tools.hpp"

namespace praxis::server {
namespace {

/// One message on the stream of a request.
void append_mcp_message(std::string& out, const std::string& text) {
  out.append("data: ").append(text).append("\n\n");
}

const AgentResult* result_in(const Event& event) {
  return std::visit(match{[](const events::TurnCompleted& e) { return &e.result; },
                          [](const events::TurnFailed& e) { return &e.result; },
                          [](const events::TurnTimedOut& e) { return &e.result; },
                          [](const events::TurnCancelled& e) { return &e.result; },
                          [](const auto&) -> const AgentResult* { return nullptr; }},
                    event.body);
}

}  // namespace

bool McpCodec::take(const Event& event, std::string& out) {
  if (has_ended_) return true;
  if (const auto* result = event.agent.id == run_ ? result_in(event) : nullptr; result != nullptr) {
    end(app::mcp_result_of(*result), out);
    return true;
  }
  if (form_.progress_token.is_null()) return false;
  if (const auto progress = app::mcp_progress_of(event))
    append_mcp_message(out, mcp_progress(form_.progress_token, ++steps_, *progress));
  return false;
}

void McpCodec::take_wait(const std::vector<ParkedStep>& /*pending*/, std::string& out) {
  end(app::mcp_waits(run_,
                     "it continues when the step is decided, on the page of the server or with "
                     "'praxis approve " +
                         run_.str() + " --server URL'."),
      out);
}

void McpCodec::take_error(const Error& error, std::string& out) {
  end({error.message, JsonObject{{"run", run_.str()}, {"status", to_string(SessionStatus::kError)}}, true},
      out);
}

HttpAnswer McpCodec::answer() const {
  return {200, {{"Content-Type", "application/json"}, {"Cache-Control", "no-store"}}, text_ + "\n"};
}

void McpCodec::end(const ServedAnswer& answer, std::string& out) {
  has_ended_ = true;
  call_->end();
  text_ = mcp_answer_text(form_.id, mcp_call_answer(served_, answer, form_.is_stateless));
  // A cancelled request gets no answer, as far as HTTP allows it.
  if (!call_->is_cancelled()) append_mcp_message(out, text_);
}

}  // namespace praxis::server
