// Servers in files of other MCP clients: what is read, and how what is not is named.
#include "app/mcp_entry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

namespace praxis::app {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

std::optional<std::string> variable(const std::string& name) {
  if (name == "TOKEN") return "secret";
  if (name == "EMPTY") return "";
  return std::nullopt;
}

Result<McpEntry> read(const std::string& server) {
  return read_mcp_entry(R"({"mcpServers": {"one": )" + server + "}}", "one", variable);
}

TEST(McpEntryTest, ProgramHasItsArgumentsAndVariables) {
  const auto entry = read(
      R"({"type": "stdio", "command": "npx", "args": ["-y", "server"], "alwaysAllow": ["write"],
          "env": {"A": "x${TOKEN}y", "B": "${NONE:-other}", "C": "${EMPTY}", "D": "$TOKEN ${"}})");
  ASSERT_TRUE(entry) << entry.error().message;
  EXPECT_THAT(entry->command, ElementsAre("npx", "-y", "server"));
  EXPECT_THAT(entry->environment,
              ElementsAre(Pair("A", "xsecrety"), Pair("B", "other"), Pair("C", ""), Pair("D", "$TOKEN ${")));
  EXPECT_EQ(entry->url, "");
}

TEST(McpEntryTest, AddressMayHaveABearerToken) {
  const auto entry = read(
      R"({"type": "http", "url": "https://example.org/mcp", "headers": {"authorization": "Bearer ${TOKEN}"}})");
  ASSERT_TRUE(entry) << entry.error().message;
  EXPECT_EQ(entry->url, "https://example.org/mcp");
  EXPECT_EQ(entry->token, "secret");
  EXPECT_TRUE(entry->command.empty());
}

TEST(McpEntryTest, WhatCannotBeReadIsNamed) {
  const std::pair<const char*, const char*> kWrong[]{
      {"5", "must give the server \"one\" either \"command\" or \"url\""},
      {"{}", "either \"command\" or \"url\""},
      {R"({"command": "a", "url": "b"})", "either \"command\" or \"url\""},
      {R"({"command": ["npx"]})", "\"command\" must be a text"},
      {R"({"command": ""})", "\"command\" must name a program"},
      {R"({"command": "a", "args": "b"})", "\"args\" must be a list of texts"},
      {R"({"command": "a", "args": [1]})", "\"args\" must be a text"},
      {R"({"command": "a", "args": ["--token=${TOKEN}"]})", "others can see it"},
      {R"({"command": "a", "cwd": "/tmp"})", "\"cwd\" is not read"},
      {R"({"command": "a", "env": ["A"]})", "\"env\" must be an object of texts"},
      {R"({"command": "a", "env": {"A": 1}})", "\"env.A\" must be a text"},
      {R"({"command": "a", "env": {"A": "${NONE}"}})", "environment variable \"NONE\", which is not set"},
      {R"({"url": "https://example.org/${TOKEN}"})", "others can see it"},
      {R"({"type": "sse", "url": "https://example.org"})", "reached by \"sse\""},
      {R"({"url": "https://example.org", "headers": {"X-Key": "1"}})", "has the header \"X-Key\""},
      {R"({"url": "https://example.org", "headers": {"Authorization": "Basic x"}})", "\"Authorization\""},
  };
  for (const auto& [server, message] : kWrong) {
    const auto entry = read(server);
    ASSERT_FALSE(entry) << server;
    EXPECT_THAT(entry.error().message, HasSubstr(message)) << server;
    EXPECT_THAT(entry.error().message, ::testing::Not(HasSubstr("secret"))) << server;
  }
  EXPECT_THAT(read_mcp_entry("[", "one", variable).error().message, HasSubstr("is not JSON"));
  EXPECT_THAT(read_mcp_entry("[]", "one", variable).error().message, HasSubstr("no object \"mcpServers\""));
  EXPECT_THAT(read_mcp_entry(R"({"mcpServers": {"two": {}, "three": {}}})", "one", variable).error().message,
              HasSubstr("has no server \"one\"; it has \"two\", \"three\""));
}

}  // namespace
}  // namespace praxis::app
