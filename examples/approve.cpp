// A call waits for a person, who lets it run with other arguments.
#include <iostream>
#include <praxis/praxis.hpp>

struct Command {
  std::string cmd;
};
PRAXIS_FIELDS(Command, cmd)

std::string shell(const Command& command) { return "ran: " + command.cmd; }

int main(int argc, char** argv) {
  const char* const model = argc > 1 ? argv[1] : "openai:gpt-5-mini";
  const auto agent =
      praxis::Agent{model}
          .use(praxis::tool<shell>("Runs a command"))
          .policy({.allow = {"shell"}, .deny = {}, .ask = {}})
          .approve([](const praxis::ToolCall&) { return praxis::needs_approval("commands need a person"); });
  auto reply = agent.run("Clean the build");
  while (reply && !reply->pending.empty()) {
    const auto parked = reply->pending.front();
    std::cout << parked.tool << " wants " << parked.arguments << '\n';
    reply = agent.resume(reply->session, {{parked.id, praxis::edit(R"({"cmd":"make clean"})")}});
  }
  std::cout << (reply ? reply->text : reply.error().message) << '\n';
}
