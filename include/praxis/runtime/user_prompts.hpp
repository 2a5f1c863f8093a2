// Prompts that servers keep for the users of an agent, such as those of the Model Context Protocol.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "praxis/base/result.hpp"
#include "praxis/json/json.hpp"

#pragma GCC visibility push(default)
namespace praxis {

/// A prompt that a server offers. All texts but the name are safe to display.
struct OfferedPrompt {
  struct Argument {
    std::string name;
    std::string description;
    bool required = false;
  };
  std::string name;  ///< `SERVER:PROMPT`, without blanks
  std::string description;
  std::vector<Argument> arguments;
};

/// The prompts of one server. Thread-safe; the functions block.
class PromptSource {
 public:
  virtual ~PromptSource() = default;
  /// The name of the server, with which the names of its prompts begin.
  virtual const std::string& server() const = 0;
  /// The prompts that it has now; none if it offers none. Errors: those of the server.
  virtual Result<std::vector<OfferedPrompt>> list(const std::stop_token& stop) = 0;
  /// The text of a prompt, for a message of the user. It is foreign text. Errors: those of the server.
  virtual Result<std::string> text(const OfferedPrompt& prompt, const JsonObject& arguments,
                                   const std::stop_token& stop) = 0;
};

}  // namespace praxis
#pragma GCC visibility pop
