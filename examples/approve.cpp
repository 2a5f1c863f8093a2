// Every call of a tool waits for an approver, who lets it run with other arguments.
#include <iostream>
#include <praxis/praxis.hpp>

std::string shell(const std::string& cmd) { return "ran: " + cmd; }

int main(int argc, char** argv) {
  const char* const model = argc > 1 ? argv[1] : "openai:gpt-5-mini";
  const auto agent =
      praxis::Agent{model}.use(praxis::tool<shell>("Runs a command", {"cmd"}).needs_approval());
  auto reply = agent.run("Clean the build");
  while (reply && !reply->pending.empty()) {
    const auto parked = reply->pending.front();
    std::cout << parked.tool << " wants " << parked.arguments << '\n';
    reply = agent.resume(reply->session, {{parked.id, praxis::edit(R"({"cmd":"make clean"})")}});
  }
  if (!reply) return std::cerr << reply.error().message << '\n', 1;
  std::cout << reply->text << '\n';
}
