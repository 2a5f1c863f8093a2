// A conversation of several turns, which starts from messages of the program.
#include <iostream>
#include <praxis/praxis.hpp>

int main(int argc, char** argv) {
  const char* const model = argc > 1 ? argv[1] : "openai:gpt-5-mini";
  const praxis::Agent agent{model, "You plan trips."};
  praxis::Conversation start;
  start.messages.push_back(praxis::text_message(praxis::Role::kUser, "We are two, and like trains."));
  start.messages.push_back(praxis::text_message(praxis::Role::kAssistant, "Noted: two people, by train."));
  auto session = agent.session(start);
  if (!session) return std::cerr << session.error().message << '\n', 1;
  for (const char* question : {"Where to in May?", "And for three days?"}) {
    const auto reply = session->ask(question);
    if (!reply) return std::cerr << reply.error().message << '\n', 1;
    std::cout << reply->text << '\n';
  }
  std::cout << session->history().messages().size() << " messages\n";
}
