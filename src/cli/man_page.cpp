#include <fmt/format.h>

#include <cctype>

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
  return page;
}

}  // namespace praxis::cli
