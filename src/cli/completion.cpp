#include <array>
#include <string>

#include "cli/description.hpp"
#include "praxis/base/suggest.hpp"

namespace praxis::cli {
namespace {

// The scripts ask the program what fits (`__complete`), so that they always match it and know the user's
// runs, agents and models. They expand nothing that it prints. Without an answer they offer files.

/// Bash splits words at some characters, which it then replaces one by one: the pieces are joined again, and
/// what stays is cut from the candidates.
constexpr std::string_view kBashScript =
    R"(# bash completion of PROGRAM; load it with: source <(PROGRAM completion bash)
_PROGRAM() {
  local i piece gap line rest="${COMP_LINE:0:COMP_POINT}" stays=''
  local -a words=()
  for ((i = 0; i <= COMP_CWORD; i++)); do
    piece="${COMP_WORDS[i]}"
    gap="${rest%%[![:space:]]*}"
    rest="${rest#"$gap"}"
    if ((i == COMP_CWORD)) && [[ -n $rest && $piece == "$rest"* ]]; then piece="$rest"; fi
    if ((i > 0)) && [[ -z $gap && -n $piece && $rest == "$piece"* ]]; then
      stays="${words[-1]}"
      words[-1]+="$piece"
    else
      stays=''
      words+=("$piece")
    fi
    rest="${rest#"$piece"}"
  done
  case "$piece" in [:=@]) stays+="$piece" ;; esac
  COMPREPLY=()
  while IFS= read -r line; do
    line="${line%%$'\t'*}"
    COMPREPLY+=("${line#"$stays"}")
  done < <("${1:-PROGRAM}" __complete "${words[@]:1}" 2>/dev/null)
}
complete -o default -o nosort -F _PROGRAM PROGRAM 2>/dev/null || complete -o default -F _PROGRAM PROGRAM
)";

constexpr std::string_view kZshScript = R"(#compdef PROGRAM
_PROGRAM() {
  local line
  local -a found shown
  for line in "${(@f)$(PROGRAM __complete "${(@)words[2,CURRENT-1]}" "$PREFIX" 2>/dev/null)}"; do
    [[ -n $line ]] || continue
    found+=("${line%%$'\t'*}")
    shown+=("${line/$'\t'/  -- }")
  done
  if (( $#found )); then
    compadd -l -V PROGRAM -d shown -- "${found[@]}"
  else
    _files
  fi
}
if [ "$funcstack[1]" = _PROGRAM ]; then _PROGRAM "$@"; else compdef _PROGRAM PROGRAM; fi
)";

constexpr std::string_view kFishScript = R"(# fish completion of PROGRAM
function __PROGRAM_complete
  set -l words (commandline -opc)
  set -e words[1]
  set -l found (PROGRAM __complete $words (commandline -ct) 2>/dev/null)
  if test (count $found) -gt 0
    printf '%s\n' $found
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c PROGRAM -f -k -a '(__PROGRAM_complete)'
)";

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

}  // namespace

Result<std::string> completion_script(const ProgramText& program, std::string_view shell) {
  static const std::array<std::string, 3> kShells{"bash", "zsh", "fish"};
  const auto script = [&](std::string_view text) {
    return replaced(std::string(text), "PROGRAM", program.name);
  };
  if (shell == "bash") return script(kBashScript);
  if (shell == "zsh") return script(kZshScript);
  if (shell == "fish") return script(kFishScript);
  const auto nearest = closest(shell, kShells);
  return fail(ErrorCode::kInput,
              "no completion for shell \"" + std::string(shell) + '"' +
                  (nearest ? "; did you mean \"" + *nearest + "\"?" : "; supported are bash, zsh and fish"));
}

}  // namespace praxis::cli
