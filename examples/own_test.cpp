// Testing an agent: a scripted model in place of its own, then checks of what the agent did.
#include <iostream>
#include <praxis/praxis.hpp>

int sent = 0;
std::string send_mail(const std::string& to) { return ++sent, "sent to " + to; }

praxis::Agent make_agent(const std::string& model) {  // the agent of the program
  return praxis::Agent{model, "You send reports."}.use(praxis::tool<send_mail>("Sends the report", {"to"}));
}

int main(int argc, char** argv) {
  const auto agent = make_agent(argc > 1 ? argv[1] : "script:own_test.jsonl");
  const auto reply = agent.run("Send the report to Ada");
  if (!reply) return std::cerr << reply.error().message << '\n', 1;
  const auto check = [](bool good, const char* what) {
    std::cout << (good ? "ok      " : "failed  ") << what << '\n';
    return good;
  };
  bool good = check(sent == 1, "the report is sent once");
  good &= check(reply->actions.at(0).tool == "send_mail", "by the tool send_mail");
  good &= check(reply->steps == 2, "in two steps");
  return good ? 0 : 1;
}
