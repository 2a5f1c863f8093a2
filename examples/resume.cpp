// Start it twice with the same journal: the first process ends while a call awaits approval, the second
// decides and resumes. Nothing that had finished is repeated.
#include <iostream>
#include <praxis/praxis.hpp>

struct Mail {
  std::string to;
};
PRAXIS_FIELDS(Mail, to)

std::string send_mail(const Mail& mail) {
  std::cout << "sending to " << mail.to << '\n';
  return "sent";
}

int main(int argc, char** argv) {
  const char* const model = argc > 1 ? argv[1] : "openai:gpt-5-mini";
  auto journal = praxis::sqlite_journal(argc > 2 ? argv[2] : "journal.db");
  if (!journal) return std::cerr << journal.error().message << '\n', 1;
  const auto agent = praxis::Agent{model}
                         .use(praxis::tool<send_mail>("Sends the report"))
                         .policy({.ask = {"send_mail"}})
                         .journal(*journal);

  const auto last = praxis::find_session(**journal, "last");
  const auto reply =
      last ? agent.resume(*last, {{praxis::ParkId{"p1"}, praxis::approve()}}) : agent.run("Send the report");
  if (!reply) return std::cerr << reply.error().message << '\n', 1;
  if (reply->pending.empty()) {
    std::cout << reply->text << '\n';
  } else {
    std::cout << "waits for an approval: " << reply->pending.front().tool << '\n';
  }
}
