#include "sim_agents.hpp"

#include <array>

#include "praxis/policy/policy.hpp"

namespace praxis::faults::sim {
namespace {

using namespace std::chrono_literals;

ToolSpec a_tool(std::string name, bool idempotent, Millis timeout = 30s) {
  ToolSpec tool;
  tool.definition.name = std::move(name);
  tool.definition.parameters = JsonObject{{"type", "object"}};
  tool.definition.safe_by_default = true;
  tool.definition.idempotent = idempotent;
  tool.definition.timeout = timeout;
  tool.retries = idempotent ? 2 : 0;
  return tool;
}

std::vector<ToolSpec> all_tools() {
  std::vector<ToolSpec> tools{
      a_tool("put", true),         a_tool("pay", false),        a_tool("send", false),
      a_tool("slow", true, 60ms),  a_tool("late", false, 60ms), a_tool("team", true, 0ms),
      a_tool("crew", false, 0ms),  a_tool("nested", true, 0ms), a_tool("sign", true),
      a_tool("helper", true, 0ms), a_tool("ask_user", true)};
  tools.back().result_from = ResultFrom::kPerson;
  return tools;
}

AgentSpec an_agent(std::string id, std::vector<ToolSpec> tools) {
  AgentSpec agent;
  agent.id = std::move(id);
  agent.model = "sim:model";
  agent.instructions = "You do what is asked.";
  agent.tools = std::move(tools);
  return agent;
}

Error vendor_error_of(Vendor& vendor) {
  static const std::array<const char*, 5> kKinds{"overloaded", "rate_limit", "network", "timeout", "server"};
  const char* kind = kKinds[vendor.random.below(kKinds.size())];
  Error error =
      make_error(ErrorCode::kModel, error_kind_from(kind), std::string("the vendor says: ") + kind, true);
  if (vendor.random.once_in(2)) error.set("retry_after_ms", 5);
  return error;
}

ToolCallPart call_of(Vendor& vendor, const std::string& tool) {
  ToolCallPart part;
  part.id = CallId("c" + vendor.number());
  part.name = vendor.mishap(60) ? "no_such_tool" : tool;
  const char* key = tool == "ask_user" ? "question" : tool == "helper" ? "prompt" : "text";
  part.arguments = std::string(R"({")") + key + R"(":")" + vendor.number() + R"("})";
  if (vendor.mishap(40)) {
    part.arguments = "{\"text\":";
    part.valid = false;
  }
  return part;
}

/// Counts the model's rounds of tool calls since the last user message.
std::size_t rounds_in(const History& history) {
  std::size_t count = 0;
  const auto& messages = history.messages();
  for (auto message = messages.rbegin(); message != messages.rend() && (*message)->role != Role::kUser;
       ++message)
    count += (*message)->role == Role::kTool ? 1 : 0;
  return count;
}

}  // namespace

AgentSpec root_agent(std::uint64_t kind) {
  AgentSpec agent = an_agent("root", all_tools());
  if (kind % 9 == 0) agent.tools.push_back(a_tool("big", true));
  agent.policy = to_json(PolicyRules{{}, {}, {"send"}});
  if (kind % 2 == 0) agent.in_doubt = InDoubt::kTell;
  if (kind % 11 == 0) agent.tool_failure = ToolFailureMode::kFail;
  if (kind % 4 == 1) agent.limits.max_tool_calls = 8;
  if (kind % 5 == 1) agent.limits.max_tokens = 4'000;
  if (kind % 5 == 2) agent.limits.timeout = 300ms;
  if (kind % 5 == 3) agent.limits.max_wait = 100ms;
  if (kind % 7 == 3) agent.limits.max_messages = 8;
  return agent;
}

AgentSpec tree_agent(std::uint64_t kind) {
  AgentSpec agent = branch_agent(0, 0);
  agent.id = "root";
  agent.limits = {};
  agent.policy = to_json(PolicyRules{{}, {}, {"send"}});
  if (kind % 2 == 0) agent.in_doubt = InDoubt::kTell;
  if (kind % 3 == 0) agent.limits.max_tool_calls = 12;
  if (kind % 3 == 1) agent.limits.max_tokens = 3'000;
  if (kind % 7 == 1) agent.limits.timeout = 300ms;
  if (kind % 7 == 2) agent.limits.max_wait = 100ms;
  return agent;
}

AgentSpec branch_agent(std::uint32_t depth, std::size_t index) {
  constexpr std::uint32_t kDeepest = 3;
  std::vector<ToolSpec> tools{a_tool("put", true), a_tool("pay", false), a_tool("send", false),
                              a_tool("ask_user", true)};
  tools.back().result_from = ResultFrom::kPerson;
  if (depth < kDeepest) {
    tools.push_back(a_tool("team", true, 0ms));
    tools.push_back(a_tool("crew", false, 0ms));
  }
  AgentSpec agent = an_agent("branch" + std::to_string(index), std::move(tools));
  if (index % 4 == 1) agent.limits.max_tool_calls = 4;
  if (index % 4 == 2) agent.limits.max_tokens = 600;
  return agent;
}

AgentSpec helper_agent() { return an_agent("helper", {a_tool("put", true), a_tool("pay", false)}); }

AgentSpec worker_agent(const AgentSpec& above, std::uint32_t depth, std::size_t index) {
  AgentSpec worker = an_agent("worker" + std::to_string(index), {});
  for (std::size_t i = index % 2; i < above.tools.size(); i += 2) worker.tools.push_back(above.tools[i]);
  // Two levels of crews are enough.
  if (depth > 0) std::erase_if(worker.tools, [](const ToolSpec& t) { return t.definition.timeout == 0ms; });
  return worker;
}

Result<ModelResponse> answer_of(Vendor& vendor, const std::vector<ToolSpec>& tools, const History& history) {
  Random& random = vendor.random;
  if (vendor.mishap(12)) return fail(vendor_error_of(vendor));
  if (vendor.mishap(80)) return fail(ErrorCode::kModel, ErrorKind::kNotFound, "no such model");
  ModelResponse response;
  response.model = "sim:model";
  response.usage.input = 10 + history.estimated_tokens();
  response.usage.output = 1 + static_cast<std::int64_t>(random.below(20));
  if (!tools.empty() && !vendor.calm && rounds_in(history) < 4 && !random.once_in(4)) {
    for (std::uint64_t count = 1 + random.below(3); count > 0; --count)
      response.parts.emplace_back(call_of(vendor, tools[random.below(tools.size())].definition.name));
    response.finish = FinishReason::kToolCalls;
    return response;
  }
  response.parts.emplace_back(TextPart{"answer " + vendor.number(), nullptr});
  if (vendor.mishap(40)) response.finish = FinishReason::kPause;
  if (vendor.mishap(60)) response.finish = FinishReason::kLength;
  return response;
}

}  // namespace praxis::faults::sim
