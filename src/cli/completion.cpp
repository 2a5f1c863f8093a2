#include <fmt/format.h>

#include <array>

#include "cli/description.hpp"
#include "praxis/base/suggest.hpp"

namespace praxis::cli {
namespace {

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

/// Escapes text for single quotes in shells without escapes inside them.
std::string quoted(const std::string& text) { return replaced(text, "'", "'\\''"); }

std::string command_names(const ProgramText& program) {
  std::string names;
  for (const CommandText& command : program.commands) names += (names.empty() ? "" : " ") + command.name;
  return names;
}

std::string bash_script(const ProgramText& program) {
  std::string cases;
  for (const CommandText& command : program.commands) {
    std::string flags;
    for (const OptionText& option : command.options) {
      for (const std::string& flag : option.flags) flags += (flags.empty() ? "" : " ") + flag;
    }
    cases += fmt::format("    {}) words='{}' ;;\n", command.name, flags);
  }
  return fmt::format(R"(# bash completion of {0}; load it with: source <({0} completion bash)
_{0}() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" words=''
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W '{1} --help --version' -- "$current"))
    return
  fi
  case "$current" in -*) ;; *) return ;; esac
  case "${{COMP_WORDS[1]}}" in
{2}  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -o default -F _{0} {0}
)",
                     program.name, command_names(program), cases);
}

/// A description inside the brackets of zsh's `_arguments`.
std::string bracketed(const std::string& text) {
  return quoted(replaced(replaced(replaced(text, "[", "\\["), "]", "\\]"), ":", "\\:"));
}

std::string zsh_script(const ProgramText& program) {
  std::string names, cases;
  for (const CommandText& command : program.commands) {
    names += fmt::format("    '{}:{}'\n", command.name, bracketed(command.description));
    cases += fmt::format("    {}) _arguments", command.name);
    for (const OptionText& option : command.options) {
      for (const std::string& flag : option.flags) {
        const std::string value =
            option.value.empty() ? "" : fmt::format(":{}:_files", bracketed(option.value));
        cases += fmt::format(" \\\n      '{}[{}]{}'", flag, bracketed(option.description), value);
      }
    }
    cases += " \\\n      '*:argument:_files' ;;\n";
  }
  return fmt::format(R"(#compdef {0}
_{0}() {{
  local -a commands
  commands=(
{1}  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  local name=$words[2]
  shift words
  (( CURRENT-- ))
  case $name in
{2}  esac
}}
if [ "$funcstack[1]" = _{0} ]; then _{0} "$@"; else compdef _{0} {0}; fi
)",
                     program.name, names, cases);
}

std::string fish_script(const ProgramText& program) {
  std::string script;
  for (const CommandText& command : program.commands) {
    script += fmt::format("complete -c {} -n __fish_use_subcommand -f -a {} -d '{}'\n", program.name,
                          command.name, replaced(command.description, "'", "\\'"));
    for (const OptionText& option : command.options) {
      if (option.flags.empty()) continue;
      std::string names;
      for (const std::string& flag : option.flags) {
        names += flag.starts_with("--") ? " -l " + flag.substr(2) : " -s " + flag.substr(1);
      }
      script += fmt::format("complete -c {} -n '__fish_seen_subcommand_from {}'{}{} -d '{}'\n", program.name,
                            command.name, names, option.value.empty() ? "" : " -r",
                            replaced(option.description, "'", "\\'"));
    }
  }
  return script;
}

}  // namespace

Result<std::string> completion_script(const ProgramText& program, std::string_view shell) {
  static const std::array<std::string, 3> kShells{"bash", "zsh", "fish"};
  if (shell == "bash") return bash_script(program);
  if (shell == "zsh") return zsh_script(program);
  if (shell == "fish") return fish_script(program);
  const auto nearest = closest(shell, kShells);
  return fail(ErrorCode::kInput, fmt::format("no completion for shell \"{}\"{}", shell,
                                             nearest ? fmt::format("; did you mean \"{}\"?", *nearest)
                                                     : "; supported are bash, zsh and fish"));
}

}  // namespace praxis::cli
