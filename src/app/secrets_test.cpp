// The secrets of tools: where they come from, who gets them, and that their values stay out of what is kept.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "app/hidden_secrets.hpp"
#include "app/secret_broker.hpp"
#include "app/secret_headers.hpp"
#include "app/secret_text.hpp"
#include "net/testing/test_server.hpp"
#include "praxis/app/agent_file.hpp"
#include "praxis/runtime/mcp_tools.hpp"
#include "tools/testing/call.hpp"

namespace praxis {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kValue = "canary/7Hq+29xk==Zt";

/// A configuration with one secret in a file, and the broker of it.
class SecretsOfTools : public ::testing::Test {
 protected:
  SecretsOfTools() { keep("token", std::string(kValue) + "\n"); }

  void keep(const std::string& name, const std::string& text, mode_t mode = 0600) const {
    folder_.write(name, text);
    chmod(folder_.str(name).c_str(), mode);
  }
  /// Writes the user's configuration and reads it.
  Result<std::shared_ptr<SecretBroker>> read(const std::string& text) const {
    keep("home/praxis/config.toml", text);
    const ConfigSources sources{
        [this](const std::string& name) { return name == "XDG_CONFIG_HOME" ? folder_.str("home") : ""; },
        {},
        ""};
    const auto config = load_config(sources);
    if (!config) return fail(config.error());
    return SecretBroker::of(*config);
  }
  std::shared_ptr<SecretBroker> broker(const std::string& text) const {
    auto read = this->read(text);
    EXPECT_TRUE(read) << read.error().message;
    return read ? *read : nullptr;
  }
  /// A secret `it` in a file, with further fields.
  std::string from_file(const std::string& more = "") const {
    return "[secrets.it]\nfrom = \"file:" + folder_.str("token") + "\"\n" + more;
  }
  static std::string value_of(SecretBroker& broker) {
    const auto value = broker.hand_out(broker.rules().at("it"));
    return value ? std::string((*value)->reveal()) : "error: " + value.error().message;
  }
  static std::string local(const TestServer& server) { return "127.0.0.1:" + std::to_string(server.port()); }

  AgentFileOptions options(std::shared_ptr<SecretBroker> secrets) const {
    AgentFileOptions made;
    made.http = make_http_client();
    made.secrets = std::move(secrets);
    return made;
  }
  static std::string mistake(const std::string& text, const AgentFileOptions& options) {
    const auto agent = parse_agent_file("model = 'openai:a'\n" + text, "/home/me/a.toml", options);
    return agent ? "no error was found" : agent.error().message;
  }
  /// The result of a call of the one tool that the file gives.
  static std::string called(const std::string& text, const AgentFileOptions& options, const std::string& tool,
                            const Json& arguments) {
    const auto agent = parse_agent_file("model = 'openai:a'\n" + text, "/home/me/a.toml", options);
    if (!agent) return "error: " + agent.error().message;
    const Tool* const found = agent->description()->tools.find(tool);
    return found == nullptr ? "no such tool" : text_of(call_with(*found, arguments));
  }

  ScratchFolder folder_;
};

TEST_F(SecretsOfTools, EachSource_GivesTheValueWithoutItsLineEnd) {
  EXPECT_EQ(value_of(*broker(from_file())), kValue);
  setenv("PRAXIS_TEST_SECRET", kValue, 1);
  EXPECT_EQ(value_of(*broker("[secrets.it]\nfrom = 'env:PRAXIS_TEST_SECRET'")), kValue);
  unsetenv("PRAXIS_TEST_SECRET");
  EXPECT_EQ(value_of(*broker("[secrets.it]\nfrom = 'command:cat " + folder_.str("token") + "'")), kValue);
}

TEST_F(SecretsOfTools, Keyring_IsAskedThroughSecretTool) {
  const std::string path = std::getenv("PATH");
  folder_.write("bin/secret-tool", "#!/bin/sh\n[ \"$*\" = 'lookup service github username me' ] && cat " +
                                       folder_.str("token") + "\n");
  chmod(folder_.str("bin/secret-tool").c_str(), 0700);
  setenv("PATH", (folder_.str("bin") + ":" + path).c_str(), 1);
  EXPECT_EQ(value_of(*broker("[secrets.it]\nfrom = 'keyring:github/me'")), kValue);
  EXPECT_THAT(value_of(*broker("[secrets.it]\nfrom = 'keyring:github/you'")), HasSubstr("no such entry"));
  setenv("PATH", folder_.str("empty").c_str(), 1);
  EXPECT_THAT(value_of(*broker("[secrets.it]\nfrom = 'keyring:github/me'")), HasSubstr("secret-tool"));
  setenv("PATH", path.c_str(), 1);
}

TEST_F(SecretsOfTools, SourceThatOthersCanRead_OrThatFails_IsRefusedWithoutTheValue) {
  keep("token", kValue, 0644);
  EXPECT_THAT(value_of(*broker(from_file())), AllOf(HasSubstr("chmod 600"), Not(HasSubstr(kValue))));
  keep("token", "short", 0600);
  EXPECT_THAT(value_of(*broker(from_file())), AllOf(HasSubstr("less than 8"), Not(HasSubstr("short,"))));
  keep("token", std::string(kValue) + "\nsecond line", 0600);
  EXPECT_THAT(value_of(*broker(from_file())), AllOf(HasSubstr("one line"), Not(HasSubstr(kValue))));
  const std::string failing = "command:echo " + std::string(kValue) + " >&2; exit 3";
  EXPECT_THAT(value_of(*broker("[secrets.it]\nfrom = '" + failing + "'")),
              AllOf(HasSubstr("status 3"), Not(HasSubstr(kValue))));
  EXPECT_THAT(value_of(*broker("[secrets.it]\nfrom = 'env:PRAXIS_TEST_UNSET'")), HasSubstr("not set"));
}

TEST_F(SecretsOfTools, Configuration_SaysWhatIsWrong) {
  EXPECT_THAT(read("[secrets.it]\nhosts = ['a.example']").error().message, HasSubstr("needs \"from\""));
  EXPECT_THAT(read("[secrets.it]\nfrom = 'vault:x'").error().message, HasSubstr("keyring:SERVICE/ACCOUNT"));
  EXPECT_THAT(read("[secrets.it]\nfrom = 'keyring:x'").error().message, HasSubstr("keyring:SERVICE/ACCOUNT"));
  EXPECT_THAT(read("[secrets.it]\nfrom = 'env:X'\nhosts = ['https://x']").error().message,
              HasSubstr("not a valid host"));
  EXPECT_THAT(read("[secrets.'a b']\nfrom = 'env:X'").error().message, HasSubstr("letters, digits"));
}

TEST_F(SecretsOfTools, Project_MustNotDefineOne) {
  const ConfigSources sources{[](const std::string&) { return ""; },
                              {},
                              "",
                              {{"/p/.praxis/config.toml", "/p", "[secrets.it]\nfrom = 'env:HOME'\n"}}};
  const auto config = load_config(sources);
  ASSERT_FALSE(config);
  EXPECT_THAT(config.error().message, HasSubstr("a project must not say where secrets come from"));
}

TEST_F(SecretsOfTools, Header_CarriesTheSecretToItsHostsOnly) {
  TestServer other([](const TestRequest&, TestConnection& to) { to.write(http_reply(200, "other")); });
  TestServer own([&](const TestRequest& request, TestConnection& to) {
    to.write(request.target == "/away" ? http_reply(302, "", "Location: " + other.url() + "\r\n")
                                       : http_reply(200, "own"));
  });
  const AgentFileOptions with = options(broker(from_file("hosts = ['" + local(own) + "']\n")));
  const std::string agent = "[tools.http]\nallow = ['" + local(own) + "', '" + local(other) +
                            "']\nheaders = { Authorization = 'Bearer secret:it', X-Plain = 'yes' }\n";
  const Json fakes{{"authorization", "Bearer of the model"}};
  EXPECT_EQ(called(agent, with, "http", {{"url", own.url()}, {"headers", fakes}}), "HTTP 200\n\nown");
  EXPECT_EQ(called(agent, with, "http", {{"url", own.url("/away")}}), "HTTP 200\n\nother");
  EXPECT_EQ(called(agent, with, "http", {{"url", other.url()}}), "HTTP 200\n\nother");
  ASSERT_EQ(own.requests().size(), 2U);
  for (const TestRequest& request : own.requests())
    EXPECT_EQ(find_header(request.headers, "Authorization"), "Bearer " + std::string(kValue));
  ASSERT_EQ(other.requests().size(), 2U);
  for (const TestRequest& request : other.requests()) {
    EXPECT_FALSE(find_header(request.headers, "Authorization"));
    EXPECT_EQ(find_header(request.headers, "X-Plain"), "yes");
  }
}

TEST_F(SecretsOfTools, ServerOfMcpOverHttp_GetsTheSecretOfItsTableOrFile) {
  TestServer server([](const TestRequest&, TestConnection& to) { to.write(http_reply(404, "")); });
  AgentFileOptions with =
      options(broker(from_file("hosts = ['" + local(server) + "']\ntools = ['mcp.t']\n")));
  with.read_file = [&](const std::string&, std::size_t) -> Result<std::string> {
    return to_json_text(Json{{"mcpServers",
                              {{"t",
                                {{"type", "http"},
                                 {"url", server.url()},
                                 {"headers", {{"Authorization", "Bearer secret:it"}}}}}}}});
  };
  std::shared_ptr<McpClient> client;
  with.on_mcp_server = [&](const McpServer& read) { client = read.client; };
  const std::string rule = "\n[policy]\nask = ['t__*']\n";
  for (const std::string& table :
       {"url = '" + server.url() + "'\nheaders = { Authorization = 'Bearer secret:it' }",
        std::string("from = 'mcp.json'")}) {
    const std::size_t before = server.requests().size();
    EXPECT_EQ(mistake("[tools.mcp.t]\n" + table + rule, with), "no error was found");
    EXPECT_FALSE(client->info());
    ASSERT_GT(server.requests().size(), before);
    EXPECT_EQ(find_header(server.requests().back().headers, "Authorization"),
              "Bearer " + std::string(kValue));
  }
  EXPECT_THAT(
      mistake("[tools.mcp.t]\nurl = 'https://other.example'\nheaders = { X = 'secret:it' }" + rule, with),
      HasSubstr("none of the hosts"));
}

TEST_F(SecretsOfTools, HeaderOfTheModel_NamesNoSecret) {
  TestServer server([](const TestRequest&, TestConnection& to) { to.write(http_reply(200, "ok")); });
  const AgentFileOptions with = options(broker(from_file("hosts = ['" + local(server) + "']\n")));
  called("[tools.http]\nallow = ['" + local(server) + "']\n", with, "http",
         {{"url", server.url()}, {"headers", {{"X", "secret:it"}}}});
  EXPECT_EQ(find_header(server.requests().at(0).headers, "X"), "secret:it");
}

TEST_F(SecretsOfTools, ResultsAndErrors_HideWhatWasHandedOut) {
  TestServer server([](const TestRequest& request, TestConnection& to) {
    to.write(http_reply(200, "you sent " + std::string(*find_header(request.headers, "X-Key"))));
  });
  const AgentFileOptions with = options(broker(from_file("hosts = ['" + local(server) + "']\n")));
  const std::string agent =
      "[tools.http]\nallow = ['" + local(server) + "']\nheaders = { X-Key = 'secret:it' }\n";
  EXPECT_THAT(called(agent, with, "http", {{"url", server.url()}}),
              AllOf(HasSubstr("you sent [key]"), Not(HasSubstr(kValue))));
  Tool failing;
  failing.definition.name = "failing";
  failing.definition.parameters = JsonObject{{"type", "object"}};
  failing.handler = [](ToolContext&, const Json&) -> Result<ToolOutput> {
    return fail(ErrorCode::kTool, std::string("no: ") + kValue);
  };
  EXPECT_EQ(text_of(call_with(app::hiding_secrets(failing, with.secrets), JsonObject{})), "error: no: [key]");
}

TEST_F(SecretsOfTools, PlainHttpToAnotherMachine_IsRefused) {
  const AgentFileOptions with = options(broker(from_file("hosts = ['example.com']\n")));
  EXPECT_THAT(called("[tools.http]\nallow = ['example.com']\nheaders = { X-Key = 'secret:it' }\n", with,
                     "http", {{"url", "http://example.com/"}}),
              HasSubstr("goes by https only"));
}

TEST_F(SecretsOfTools, AgentFile_SaysWhyASecretIsNotGiven) {
  const auto http = [](const std::string& header) {
    return "[tools.http]\nallow = ['a.example']\nheaders = { X = '" + header + "' }\n";
  };
  const AgentFileOptions with = options(broker(from_file("hosts = ['b.example', '*.c.example']\n")));
  EXPECT_THAT(mistake(http("secret:if"), with), HasSubstr("did you mean \"it\"?"));
  EXPECT_THAT(mistake(http("secret:it"), with), HasSubstr("none of the hosts that the tool may reach"));
  EXPECT_THAT(mistake(http("secret:it!x y"), with), HasSubstr("as its last word"));
  EXPECT_THAT(mistake(http("secret:it"), options(nullptr)), HasSubstr("provides no secrets"));
  const AgentFileOptions of_shell = options(broker(from_file("hosts = ['a.example']\ntools = ['shell']\n")));
  EXPECT_THAT(mistake(http("secret:it"), of_shell), HasSubstr("not for the tool \"http\""));
  const AgentFileOptions of_other =
      options(broker(from_file("hosts = ['a.example']\nagents = ['/b.toml']\n")));
  EXPECT_THAT(mistake(http("secret:it"), of_other), HasSubstr("not for the agent \"/home/me/a.toml\""));
  AgentFileOptions of_project = options(broker(from_file("hosts = ['a.example']\n")));
  of_project.within = "/home/me";
  EXPECT_THAT(mistake(http("secret:it"), of_project), HasSubstr("only if its \"agents\" name"));
  of_project.secrets = broker(from_file("hosts = ['a.example']\nagents = ['/home/me/a.toml']\n"));
  EXPECT_EQ(mistake(http("secret:it"), of_project), "no error was found");
}

TEST_F(SecretsOfTools, Program_GetsASecretOnlyIfItReachesNoOtherHost) {
  const auto shell = [](const std::string& allow, const std::string& entry = "TOKEN=secret:it") {
    return "[tools.shell]\nenvironment = ['" + entry + "']\nallow = [" + allow +
           "]\n[policy]\nask = ['shell']\n";
  };
  const AgentFileOptions with = options(broker(from_file("hosts = ['b.example:443', '*.c.example']\n")));
  EXPECT_EQ(mistake(shell(""), with), "no error was found");
  EXPECT_EQ(mistake(shell("'b.example:443', 'x.c.example', '*.d.c.example'"), with), "no error was found");
  for (const char* host : {"'b.example'", "'b.example:80'", "'c.example'", "'x.c.example', 'a.example'"})
    EXPECT_THAT(mistake(shell(host), with), HasSubstr("may reach hosts that it is not for")) << host;
  EXPECT_THAT(mistake(shell("", std::string("TOKEN=") + kValue), with),
              AllOf(HasSubstr("\"TOKEN=...\""), Not(HasSubstr(kValue))));
}

}  // namespace
}  // namespace praxis
