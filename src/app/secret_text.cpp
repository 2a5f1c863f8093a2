#include "app/secret_text.hpp"

namespace praxis::app {

Result<SecretText> read_secret_text(std::string_view text) {
  const std::size_t at = text.find(kSecretReference);
  if (at == text.npos) return SecretText{std::string(text), {}};
  const std::string_view name = text.substr(at + kSecretReference.size());
  const bool is_word = at == 0 || text[at - 1] == ' ';
  if (!is_word || name.empty() || name.find_first_of(" :") != name.npos)
    return fail(ErrorCode::kInput,
                "must have the name of a secret as its last word, as in \"Bearer secret:github\"");
  return SecretText{std::string(text.substr(0, at)), std::string(name)};
}

}  // namespace praxis::app
