#include "cli/prompt.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/hints.hpp"
#include "praxis/base/utf8.hpp"
#include "praxis/json/schema.hpp"

namespace praxis::cli {
namespace {

constexpr int kPatience = 1000;  ///< milliseconds until the user learns what the program waits for

bool is_blank_text(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

/// Whether standard input can have been given for this command. A terminal or a device such as /dev/null
/// cannot.
bool is_given() {
  struct stat status{};
  if (fstat(STDIN_FILENO, &status) != 0) return false;
  return S_ISFIFO(status.st_mode) || S_ISREG(status.st_mode) || S_ISSOCK(status.st_mode);
}

Result<std::string> read_text() {
  auto text = read_input("-");
  if (!text || (is_valid_utf8(*text) && text->find('\0') == std::string::npos)) return text;
  return fail(app::usage_error("standard input is not UTF-8 text", "--attach FILE sends an image or a PDF"));
}

/// What standard input holds in addition to a prompt; empty if it was not given.
Result<std::string> read_given(Console& console) {
  if (!is_given()) return "";
  pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  if (poll(&input, 1, kPatience) == 0) {
    console.err.line(
        "praxis: waiting for the end of standard input, which is sent with the prompt; '< /dev/null' gives "
        "none");
  }
  return read_text();
}

}  // namespace

Result<Message> read_message(const std::string& prompt, Console& console) {
  const bool is_input = prompt == "-";
  auto text = is_input ? read_text() : Result<std::string>(prompt);
  if (!text) return fail(text.error());
  if (is_blank_text(*text))
    return fail(app::usage_error(is_input ? "standard input holds no prompt" : "the prompt is empty"));
  Message message = text_message(Role::kUser, *std::move(text));
  if (is_input) return message;
  auto given = read_given(console);
  if (!given) return fail(given.error());
  if (is_blank_text(*given)) return message;
  if (!given->ends_with('\n')) *given += '\n';
  message.parts.emplace_back(TextPart{fmt::format("\n\n<stdin>\n{}</stdin>", *given), nullptr});
  return message;
}

Result<Json> read_schema(const std::string& file) {
  if (file.empty()) return nullptr;
  auto text = read_input(file);
  if (!text) return fail(text.error());
  const auto mistake = [&](const Error& error) {
    return fail(app::usage_error(fmt::format("--schema \"{}\": {}", file, error.message)));
  };
  auto schema = parse_json(*text);
  if (!schema) return mistake(schema.error());
  if (auto compiled = JsonSchema::compile(*schema); !compiled) return mistake(compiled.error());
  return schema;
}

}  // namespace praxis::cli
