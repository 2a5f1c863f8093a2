// Bounds of one turn: what it may do, spend and take. The reason tells a program which one was reached.
#include <iostream>
#include <praxis/praxis.hpp>

std::string look_up(const std::string& topic) { return "more about " + topic; }

int main(int argc, char** argv) {
  const char* const model = argc > 1 ? argv[1] : "openai:gpt-5-mini";
  praxis::Limits limits;
  limits.max_steps = 2;
  limits.max_tokens = 50'000;
  limits.timeout = std::chrono::minutes{5};
  const auto agent =
      praxis::Agent{model}.use(praxis::tool<look_up>("Looks a topic up", {"topic"})).limits(limits);
  auto run = agent.stream("Find out everything about tides");
  const auto report = run.report();  // also of a turn without an answer, which `result` gives as an error
  if (!report) return std::cerr << report.error().message << '\n', 1;
  if (report->reason != praxis::StopReason::kMaxSteps)
    return std::cerr << (report->error ? report->error->message : "no limit was reached") << '\n', 1;
  std::cout << "stopped by " << to_string(*report->reason) << " after " << report->actions.size()
            << " calls\n";
}
