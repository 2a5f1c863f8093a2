// What tests of `praxis chat` share: agents, and a chat at a pseudo-terminal that is judged by an emulator.
#pragma once

#include <gmock/gmock.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "command_line.hpp"
#include "terminal.hpp"

namespace praxis::testing {

/// What a person does at a chat, and what then is on the screen.
struct ChatRig {
  static std::string says(const std::string& text, int delay_ms = 0) {
    return to_json_text({{"text", text}, {"delay_ms", delay_ms}}) + '\n';
  }
  static std::string puts(const std::string& key, int delay_ms = 0) {
    const Json arguments{{"op", "put"}, {"key", key}, {"value", "1"}};
    return to_json_text({{"tool_calls", JsonArray{JsonObject{{"name", "kv"}, {"arguments", arguments}}}},
                         {"delay_ms", delay_ms}}) +
           '\n';
  }
  /// Waits until the composer is on the screen.
  static void begin(TerminalSession& chat) { ASSERT_TRUE(chat.shows(">")); }
  /// Begins a turn whose model is slow, and queues another message behind it.
  static void begin_and_queue(TerminalSession& chat) {
    begin(chat);
    chat.type("Begin\r");
    chat.shows("waits for the model");
    chat.type("then this\x1b\r");
    chat.shows("queued: then this");
  }
  /// Waits until the screen does not show `text`.
  static bool loses(TerminalSession& chat, const std::string& text) {
    const bool lost = chat.wait_until([&] { return !chat.screen().contains(text); });
    EXPECT_TRUE(lost) << "still shown: " << text << "\nthe screen:\n" << chat.screen();
    return lost;
  }
  /// Leaves with Ctrl-C twice; returns all lines of the terminal.
  static std::string left(TerminalSession& chat) {
    chat.type("\x03");
    chat.shows("Ctrl-C once more leaves");
    chat.type("\x03");
    EXPECT_EQ(chat.finish(), 0);
    EXPECT_TRUE(chat.emulated().is_cursor_visible());
    EXPECT_TRUE(chat.reads_lines()) << "the terminal was not set back";
    EXPECT_THAT(chat.emulated().tampering(), ::testing::IsEmpty());
    return chat.screen();
  }
  static std::size_t count(const std::string& text, const std::string& part) {
    std::size_t found = 0;
    for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++found;
    return found;
  }
  /// Checks that the parts stand in the text once each, in this order.
  static void expect_once_in_order(const std::string& text, const std::vector<std::string>& parts) {
    std::size_t last = 0;
    for (const std::string& part : parts) {
      EXPECT_EQ(count(text, part), 1U) << part << "\nin:\n" << text;
      const std::size_t at = text.find(part);
      EXPECT_GE(at, last) << part << " is out of order in:\n" << text;
      last = at;
    }
  }
};

class CliChat : public CommandLine, public ChatRig, public ::testing::WithParamInterface<int> {
 protected:
  CliChat() {
    options_.env["EDITOR"] = "false";
    options_.env["VISUAL"] = "";
    file("notes.toml",
         "id = 'notes'\nmodel = 'script:notes.jsonl'\n[tools.kv]\n[policy]\nallow = ['kv']\nask = ['kv']\n");
    file("talk.toml", "id = 'talk'\nmodel = 'script:talk.jsonl'\n");
  }

  std::unique_ptr<TerminalSession> chat(std::vector<std::string> arguments, TerminalShape shape = {}) const {
    arguments.insert(arguments.begin(), "chat");
    return std::make_unique<TerminalSession>(command(arguments), options_, shape);
  }
};

}  // namespace praxis::testing
