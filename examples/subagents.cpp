// An agent as a tool of another agent, and a tool that starts its own agent.
#include <iostream>
#include <praxis/praxis.hpp>

praxis::Result<std::string> explore(praxis::ToolContext& context, const std::string& topic) {
  const auto found = context.spawn("", "List the known facts.").run(topic);
  if (!found) return praxis::fail(found.error());
  return found->text;
}

int main(int argc, char** argv) {
  const char* const model = argc > 1 ? argv[1] : "openai:gpt-5-mini";
  const auto researcher = praxis::Agent{model, "Look things up."}.id("researcher");
  const auto lead = praxis::Agent{model}
                        .id("lead")
                        .use(researcher.as_tool("research", "Looks something up"))
                        .use(praxis::tool<explore>("Explores a topic", {"topic"}));
  const auto reply = lead.run("What moves the sea?");
  if (!reply) return std::cerr << reply.error().message << '\n', 1;
  std::cout << reply->text << '\n';
  for (const auto& action : reply->actions)
    std::cout << action.tool << ": " << to_string(action.outcome) << '\n';
}
