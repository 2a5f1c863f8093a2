// One runtime for the whole program: its journal and handlers hold for all sessions, whose tree it shows.
#include <iostream>
#include <praxis/praxis.hpp>

int main(int argc, char** argv) {
  const char* const model = argc > 1 ? argv[1] : "openai:gpt-5-mini";
  praxis::RuntimeOptions options;
  const auto journal = options.journal = praxis::memory_journal();  // or sqlite_journal(path)
  const auto runtime = praxis::Runtime::create(std::move(options));
  int calls = 0;
  const auto subscription = runtime->on("model.requested", [&](const praxis::Event&) { ++calls; });

  auto session = runtime->create_session(praxis::Agent{model}.id("writer"));
  if (!session) return std::cerr << session.error().message << '\n', 1;
  const auto reply = session->ask("Write about tides");
  if (!reply) return std::cerr << reply.error().message << '\n', 1;
  std::cout << calls << " model call: " << reply->text << '\n';

  // The live tree, and a command to one of its sessions.
  const praxis::SessionId id = session->session_id();
  const auto noted = runtime->command({{praxis::CommandVerb::kAnnotate, id, "careful"}});
  if (!noted) return std::cerr << noted.error().message << '\n', 1;
  for (const praxis::AgentNode& node : runtime->agent_tree()) {
    std::cout << std::string(2 * node.depth, ' ') << node.agent << "  " << praxis::to_string(node.status)
              << "  " << node.subtree.total() << " tokens\n";
  }

  // The same through the journal, as another process does it.
  runtime->stop();
  if (const auto closed = session->close(); !closed) return std::cerr << closed.error().message << '\n', 1;
  const praxis::Commands commands{{praxis::CommandVerb::kAnnotate, id, "read it again"}};
  const auto answer = praxis::deliver(*journal, *praxis::system_environment(), commands);
  if (!answer) return std::cerr << answer.error().message << '\n', 1;
  praxis::JournalTree tree(journal, {.last_roots = 20});  // or {.root = id}, or everything
  const auto read = tree.refresh();                       // call it repeatedly: reads only logs that grew
  if (!read) return std::cerr << read.error().message << '\n', 1;
  for (const praxis::AgentNode& node : tree.nodes()) std::cout << node.agent << ": " << node.comment << '\n';
}
