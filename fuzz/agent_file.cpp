// Arbitrary bytes as an agent file: an invalid file is one error of kind input, and an accepted one describes
// an agent that reads back from its JSON unchanged.
#include <cstdint>
#include <cstdlib>

#include "praxis/app/agent_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace praxis;
  AgentFileOptions options;
  options.folder = "/nowhere";
  const auto agent = parse_agent_file({reinterpret_cast<const char*>(data), size}, "agent.toml", options);
  if (!agent) return agent.error().code == ErrorCode::kInput ? 0 : (std::abort(), 1);
  const std::string text = to_json_text(to_json(agent->spec()));
  const auto spec = agent_spec_from_json(parse_json(text).value());
  if (!spec || to_json_text(to_json(*spec)) != text) std::abort();
  return 0;
}
