#include <fmt/format.h>

#include <cctype>

#include "app/config_keys.hpp"
#include "cli/description.hpp"

namespace praxis::cli {
namespace {

/// Escapes text for troff: no line starts with a request, hyphens stay hyphens.
std::string troff(std::string_view text) {
  std::string out;
  bool line_starts = true;
  for (const char c : text) {
    if (line_starts && (c == '.' || c == '\'')) out += "\\&";
    line_starts = c == '\n';
    switch (c) {
      case '\\':
        out += "\\e";
        break;
      case '-':
        out += "\\-";
        break;
      case '\'':
        out += "\\(aq";
        break;
      case '`':
        out += "\\(ga";
        break;
      case '"':
        out += "\\(dq";
        break;
      case '~':
        out += "\\(ti";
        break;
      case '^':
        out += "\\(ha";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string verbatim(std::string_view text) { return fmt::format(".nf\n{}\n.fi\n", troff(text)); }

std::string option_text(const OptionText& option) {
  std::string names = fmt::format("{}", fmt::join(option.flags, ", "));
  if (option.flags.empty()) {
    return fmt::format(".TP\n.I {}\n{}\n", troff(option.value), troff(option.description));
  }
  if (!option.value.empty()) names += ' ' + option.value;
  return fmt::format(".TP\n.B {}\n{}\n", troff(names), troff(option.description));
}

std::string command_text(const ProgramText& program, const CommandText& command) {
  std::string synopsis = program.name + ' ' + command.name + " [OPTION]...";
  for (const OptionText& option : command.options) {
    if (option.flags.empty()) synopsis += ' ' + option.value;
  }
  std::string text = fmt::format(".SS {}\n{}.\n.PP\n.B {}\n", troff(command.name), troff(command.description),
                                 troff(synopsis));
  for (const OptionText& option : command.options) text += option_text(option);
  return text + ".PP\n" + verbatim(command.footer);
}

std::string term(std::string_view name, std::string_view text) {
  return fmt::format(".TP\n.B {}\n{}\n", troff(name), troff(text));
}

/// The variables of settings, and those that other programs know too.
std::string environment_text() {
  std::string text = ".SH ENVIRONMENT\n";
  for (const SettingKey& key : app::scalar_keys())
    text += term(app::variable_of(key), fmt::format("{}.", key.description));
  text += term("OPENAI_API_KEY, ANTHROPIC_API_KEY, ...",
               "Keys of providers; praxis models --all lists where each is looked up.");
  text += term("OPENAI_BASE_URL, ...", "Other addresses of providers.");
  text += term("https_proxy, http_proxy, no_proxy, SSL_CERT_FILE", "How servers are reached and checked.");
  text += term("XDG_CONFIG_HOME, XDG_STATE_HOME",
               "Where the files below are, instead of ~/.config and ~/.local/state.");
  text += term("VISUAL, EDITOR", "The editor; vi if neither is set.");
  return text + term("NO_COLOR", "If set, output has no colours.");
}

std::string files_text() {
  return ".SH FILES\n" + term("~/.local/state/praxis/journal.db", "The journal: all runs.") +
         term("~/.config/praxis/config.toml, profiles/NAME.toml",
              "Settings of the user; praxis config changes them.") +
         term("~/.config/praxis/agents/NAME.toml", "Agents of the user, found by their names.") +
         term("~/.config/praxis/allowed.jsonl", "Calls that the user always allows.") +
         term("~/.config/praxis/roles.toml", "Roles that tokens of the server can have.") +
         term("~/.local/state/praxis/tokens.jsonl", "Digests of the tokens of praxis tokens.") +
         term("/etc/praxis/config.toml", "Settings of the system; its limits bound all others.") +
         term(".praxis/config.toml, .praxis/config.local.toml, .praxis/agents",
              "Settings and agents of a project, once it is trusted.");
}

}  // namespace

std::string man_page(const ProgramText& program) {
  std::string title = program.name;
  for (char& c : title) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  std::string page = fmt::format(".TH {} 1 \"\" \"{} {}\"\n", title, program.name, program.version);
  page += fmt::format(".SH NAME\n{} \\- durable runtime for LLM agents\n", program.name);
  page += fmt::format(".SH SYNOPSIS\n.B {}\n.I COMMAND\n[\\fIOPTION\\fR]... [\\fIARGUMENT\\fR]...\n",
                      program.name);
  page += fmt::format(".SH DESCRIPTION\n{}\n.PP\n", troff(program.description));
  page += verbatim(program.footer);
  page += ".SH COMMANDS\n";
  for (const CommandText& command : program.commands) page += command_text(program, command);
  page += environment_text() + files_text();
  return page;
}

}  // namespace praxis::cli
