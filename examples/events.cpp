// The events of a turn as a range; here, a tool that reports its progress.
#include <iostream>
#include <praxis/praxis.hpp>

std::string copy_files(praxis::ToolContext& context, int count) {
  for (int done = 1; done <= count; ++done) {
    context.progress("file " + std::to_string(done), static_cast<double>(done) / count);
  }
  return "copied";
}

int main(int argc, char** argv) {
  const char* const model = argc > 1 ? argv[1] : "openai:gpt-5-mini";
  const auto agent = praxis::Agent{model}.use(praxis::tool<copy_files>("Copies files", {"count"}));
  auto run = agent.stream("Copy two files");
  for (const auto& event : run) {
    std::visit(
        praxis::match{
            [](const praxis::events::ToolCalled& call) {
              std::cout << call.name << ' ' << call.arguments << '\n';
            },
            [](const praxis::events::ToolProgress& progress) { std::cout << "  " << progress.text << '\n'; },
            [](const praxis::events::AssistantText& answer) { std::cout << answer.text << '\n'; },
            [](const auto&) {},
        },
        event.body);
  }
  const auto reply = run.result();
  if (!reply) return std::cerr << reply.error().message << '\n', 1;
}
