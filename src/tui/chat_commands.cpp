#include "tui/chat_commands.hpp"

#include <fmt/format.h>

#include <array>

namespace praxis::tui {
namespace {

constexpr std::string_view kKeys =
    "Enter          send; while the agent works: reaches it at its next step\n"
    "Alt-Enter      queue: a turn of its own, after the one in progress\n"
    "Alt-Up         the last message that waits, back into the composer\n"
    "Ctrl-J         new line (Shift-Enter where the terminal tells it apart)\n"
    "@              names a file, whose text is sent with the message\n"
    "!              a command for your own shell; the model sees its output\n"
    "Tab            takes the completion, or decides the step that waits\n"
    "Esc            stop your ! command, or the agent; twice: back to a turn\n"
    "Ctrl-C         clear the text, or stop as Esc does; twice: leave\n"
    "Ctrl-D         leave, if the text is empty\n"
    "Up, Ctrl-R     earlier messages; Ctrl-R finds what is typed in them\n"
    "Ctrl-G         write in the editor of VISUAL or EDITOR\n"
    "Ctrl-_         undo;  Ctrl-L  draw again\n"
    "Ctrl-T         the agents: follow, steer, pause, stop or note one\n";

constexpr std::array kCommands{
    ChatCommand{"help", "", "lists keys and commands"},
    ChatCommand{"tree", "", "the agents of the run"},
    ChatCommand{"cost", "", "the usage of the run"},
    ChatCommand{"context", "", "what fills the window of the model"},
    ChatCommand{"doctor", "", "whether everything is set up well"},
    ChatCommand{"approvals", "", "the steps that wait"},
    ChatCommand{"queue", "", "messages that wait: edit, move, withdraw"},
    ChatCommand{"compact", "", "summarises older messages"},
    ChatCommand{"resume", "[ID]", "another run; without an ID: searches all"},
    ChatCommand{"new", "[MODEL]", "a new run of the same agent"},
    ChatCommand{"fork", "[ID]", "a branch of this run, or of another"},
    ChatCommand{"rewind", "[TURN]", "back to before a turn; the last without one"},
    ChatCommand{"diff", "", "what the run changed in files"},
    ChatCommand{"undo", "[TURN]", "takes files back; /undo redo takes that back"},
    ChatCommand{"model", "[NAME]", "another model for this run"},
    ChatCommand{"agent", "[NAME]", "the member of a team, or a new run of an agent"},
    ChatCommand{"export", "FILE", "the conversation as Markdown"},
    ChatCommand{"quit", "", "leaves"}};

}  // namespace

std::span<const ChatCommand> chat_commands() { return kCommands; }

std::vector<Choice> command_choices() {
  std::vector<Choice> choices;
  for (const ChatCommand& each : kCommands)
    choices.push_back({std::string(each.name), '/' + std::string(each.name), std::string(each.about)});
  return choices;
}

std::string chat_help() {
  std::string text(kKeys);
  for (const ChatCommand& each : kCommands)
    text += fmt::format("{:14} {}\n", fmt::format("/{} {}", each.name, each.takes), each.about);
  return text;
}

}  // namespace praxis::tui
