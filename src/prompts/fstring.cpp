#include "prompts/fstring.hpp"

#include <algorithm>
#include <functional>

namespace praxis {
namespace {

bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

bool is_variable(std::string_view name) {
  const bool has_empty_part = name.starts_with('.') || name.ends_with('.') || name.contains("..");
  return !name.empty() && !has_empty_part && !(name[0] >= '0' && name[0] <= '9') &&
         std::ranges::all_of(name, is_name_char);
}

std::string place_in(std::string_view text, std::size_t at) {
  const std::string_view before = text.substr(0, at);
  const auto line = std::ranges::count(before, '\n') + 1;
  const std::size_t start = before.rfind('\n') + 1;  // 0 without a line break
  return "line " + std::to_string(line) + ", column " + std::to_string(at - start + 1);
}

/// Gives the parts of a template to `literal` and `variable`, and mistakes to `mistake`.
struct FStringReader {
  std::function<void(std::string_view)> literal, variable;
  std::function<void(std::string)> mistake;

  void read(std::string_view text) const {
    std::size_t at = 0;
    while (at < text.size()) {
      const std::size_t brace = std::min(text.find_first_of("{}", at), text.size());
      literal(text.substr(at, brace - at));
      if (brace == text.size()) return;
      at = read_brace(text, brace);
    }
  }

 private:
  /// Returns where the text continues.
  std::size_t read_brace(std::string_view text, std::size_t at) const {
    if (at + 1 < text.size() && text[at + 1] == text[at]) {
      literal(text.substr(at, 1));
      return at + 2;
    }
    if (text[at] == '}') {
      mistake(place_in(text, at) + ": \"}\" without \"{\"; write \"}}\" for a brace");
      return at + 1;
    }
    const std::size_t end = text.find_first_of("{}\n", at + 1);
    if (end == text.npos || text[end] != '}') {
      mistake(place_in(text, at) + ": \"{\" without \"}\"; write \"{{\" for a brace");
      return at + 1;
    }
    const std::string_view name = text.substr(at + 1, end - at - 1);
    if (is_variable(name)) {
      variable(name);
    } else {
      mistake(place_in(text, at) + ": \"" + std::string(name.substr(0, 40)) +
              "\" is not the name of a variable: letters, digits, _ and dots between names");
    }
    return end + 1;
  }
};

void add_once(std::vector<std::string>& names, std::string_view name) {
  if (std::ranges::find(names, name) == names.end()) names.emplace_back(name);
}

}  // namespace

PromptCheck check_fstring(std::string_view text) {
  constexpr std::size_t kMaxErrors = 20;
  PromptCheck check;
  FStringReader{[](std::string_view) {}, [&](std::string_view name) { add_once(check.variables, name); },
                [&](std::string error) {
                  check.ok = false;
                  if (check.errors.size() < kMaxErrors) check.errors.push_back(std::move(error));
                }}
      .read(text);
  return check;
}

const Json* value_of_variable(const Json& params, std::string_view name) {
  const Json* at = &params;
  while (true) {
    const std::size_t dot = std::min(name.find('.'), name.size());
    const JsonObject* object = at->if_object();
    at = object == nullptr ? nullptr : object->if_contains(name.substr(0, dot));
    if (at == nullptr || dot == name.size()) return at;
    name.remove_prefix(dot + 1);
  }
}

Result<std::string> render_fstring(std::string_view text, const Json& params,
                                   std::vector<std::string>& missing) {
  std::string out, error;
  bool is_too_long = false;
  const auto add = [&](std::string_view piece) {
    is_too_long |= out.size() + piece.size() > kMaxRendered;
    if (!is_too_long) out.append(piece);
  };
  FStringReader{add,
                [&](std::string_view name) {
                  const Json* value = value_of_variable(params, name);
                  if (value == nullptr) {
                    add_once(missing, name);
                  } else if (value->is_string()) {
                    add(value->get_string());
                  } else if (!is_too_long) {
                    add(to_json_text(*value));
                  }
                },
                [&](std::string what) {
                  if (error.empty()) error = std::move(what);
                }}
      .read(text);
  if (!error.empty()) return fail(ErrorCode::kInput, "the template is invalid: " + error);
  if (is_too_long)
    return fail(ErrorCode::kInput,
                "the rendered prompt has more than " + std::to_string(kMaxRendered) + " bytes");
  return out;
}

}  // namespace praxis
