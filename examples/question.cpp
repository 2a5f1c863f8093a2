// The model asks the user a question; a handler answers it while the turn is running.
#include <iostream>
#include <praxis/praxis.hpp>

int main(int argc, char** argv) {
  const char* const model = argc > 1 ? argv[1] : "openai:gpt-5-mini";
  const auto runtime = praxis::Runtime::create();
  runtime->set_query_user_handler(
      [](const praxis::SessionId&, const std::string& path, const std::string& prompt) {
        std::cout << path << " asks: " << prompt << '\n';
        return std::optional<std::string>("By train");
      });
  const auto agent = praxis::Agent{model}.id("travel").use(praxis::ask_user_tool()).runtime(runtime);
  const auto reply = agent.run("Plan my trip to Lisbon");
  if (!reply) return std::cerr << reply.error().message << '\n', 1;
  std::cout << reply->text << '\n';
}
