// A program that uses an installed Praxis: it must compile, link and run, with the static and with the shared
// library. Argument: a script for the model. It crosses the border of the library in every way: templates,
// inline functions, exceptions, callbacks, virtual functions on both sides and values of Boost.JSON.
#include <iostream>
#include <praxis/praxis.hpp>
#include <stdexcept>

#ifdef ALL_COMPONENTS
#include <praxis/net/http_client.hpp>
#endif

namespace {

struct City {
  praxis::arg<std::string, "City, e.g. Paris"> name;
};
PRAXIS_FIELDS(City, name)

struct Weather {
  std::string sky;
  int celsius = 0;
};
PRAXIS_FIELDS(Weather, sky, celsius)

struct NoSuchCity : std::runtime_error {
  using runtime_error::runtime_error;
};

Weather look_up(const City& city) {
  if (city.name != "Paris") throw NoSuchCity("no such city");
  return {"sunny", 24};
}

/// Fails the program unless `holds`.
void require(bool holds, const char* what) {
  if (holds) return;
  std::cerr << what << '\n';
  std::exit(1);
}

void use_core(const std::string& script) {
  std::string failures;
  auto agent = praxis::Agent{"script:" + script}.use(praxis::tool<look_up>("Looks up the weather"));
  agent.on("tool.*", [&failures](const praxis::Event& event) {
    if (const auto* failed = std::get_if<praxis::events::ToolFailed>(&event.body))
      failures += failed->error.message;
  });
  const auto reply = agent.run<Weather>("How is the weather?");
  require(reply.has_value(), reply ? "" : reply.error().message.c_str());
  require(reply->value && reply->value->celsius == 24, "the answer has no value");
  require(failures.contains("no such city"), "the tool's exception is not reported");

  const auto broken = praxis::parse_json("{");
  require(!broken && broken.error().code == praxis::ErrorCode::kInput, "an error lost its code");
  praxis::Json json = {{"answer", 42}};
  require(praxis::to_json_text(json) == R"({"answer":42})", "a JSON value was not written");
  try {
    json.as_string();
    require(false, "Boost.JSON did not throw");
  } catch (const std::invalid_argument&) {
  } catch (const boost::system::system_error&) {
  }
}

#ifdef ALL_COMPONENTS
void use_components() {
  require(praxis::make_http_client() != nullptr, "no HTTP client");
  const auto journal = praxis::sqlite_journal("consumer.db");
  require(journal.has_value(), "no journal");
  require(praxis::shell_tool({}).definition.name == "shell", "no shell tool");
  require(!praxis::load_agent_file("missing.toml").has_value(), "a missing file was loaded");
}
#else
void use_components() {
  const auto reply = praxis::Agent{"openai:gpt-5-mini"}.run("Hello");
  require(!reply && reply.error().message.contains("praxis::http"), "the missing component is not named");
}
#endif

}  // namespace

int main(int, char** argv) {
  use_core(argv[1]);
  use_components();
  std::cout << "the consumer ran\n";
}
