#include "app/envelope.hpp"

namespace praxis::app {

Json envelope(const AgentResult& result) {
  JsonObject line{{"event", "result"}};
  const Json fields = to_json(result);
  for (const auto& [key, value] : fields.get_object()) line[key] = value;
  return line;
}

Json envelope(const Error& error, const SessionId& session) {
  AgentResult result;
  result.session = session;
  result.status = SessionStatus::kError;
  result.error = error;
  Json line = envelope(result);
  for (const char* key : {"id", "agent", "model", "started_at"}) line.get_object()[key] = nullptr;
  if (session.empty()) line.get_object()["run_id"] = nullptr;
  return line;
}

}  // namespace praxis::app
