#include "app/journal_key.hpp"

#include <memory>
#include <string_view>
#include <utility>

#include "app/hints.hpp"
#include "app/own_folder.hpp"
#include "app/plain_text.hpp"
#include "app/secret_source.hpp"

namespace praxis::app {
namespace {

constexpr std::size_t kMostKeyText = 4096;
constexpr std::string_view kPassphrase = "passphrase";
constexpr const char* kPassphraseVariable = "PRAXIS_JOURNAL_PASSPHRASE";

using Secret = Result<std::shared_ptr<const SealSecret>>;

std::unexpected<Error> no_secret(const std::string& source, const std::string& what) {
  return fail(ErrorCode::kInput, "the key of the journal, " + source + ": " + what);
}

Secret key_of(const SecretSource& source) {
  const auto bytes = read_secret(source, kMostKeyText);
  if (!bytes) return no_secret(source.shown(), bytes.error().message);
  auto key = SealKey::parse(bytes->reveal());
  if (!key) return no_secret(source.shown(), key.error().message);
  return std::make_shared<const SealSecret>(*std::move(key));
}

Secret passphrase(const AskPassphrase& ask) {
  const auto given = [](SecretBytes words) -> Secret {
    if (words.size() == 0) return no_secret("passphrase", "it is empty");
    return std::make_shared<const SealSecret>(Passphrase{std::move(words)});
  };
  if (std::string words = environment_variable(kPassphraseVariable); !words.empty()) {
    SecretBytes kept(words);
    wipe(words);
    return given(std::move(kept));
  }
  if (!ask)
    return no_secret("passphrase",
                     std::string("there is no terminal to ask for it; set ") + kPassphraseVariable);
  auto words = ask();
  if (!words) return fail(std::move(words.error()));
  return given(*std::move(words));
}

}  // namespace

Status check_key_source(const std::string& source) {
  if (source == kPassphrase || SecretSource::parse(source)) return {};
  return fail(usage_error("not the source of a key: " + in_quotes(source),
                          "file:PATH, env:NAME, command:COMMAND, keyring:SERVICE/ACCOUNT, or passphrase"));
}

AskSealSecret journal_secret(const std::string& source, AskPassphrase ask) {
  if (source.empty()) return {};
  return [source, ask = std::move(ask)]() -> Secret {
    if (source == kPassphrase) return passphrase(ask);
    if (auto known = check_key_source(source); !known) return fail(std::move(known.error()));
    return key_of(*SecretSource::parse(source));
  };
}

AskSealSecret kept_secret(AskSealSecret secret, std::shared_ptr<KeptSecret> kept) {
  if (!secret) return secret;
  return [ask = std::move(secret), kept = std::move(kept)]() -> Secret {
    const std::lock_guard lock(kept->mutex);
    if (kept->secret) return kept->secret;
    auto given = ask();
    if (given) kept->secret = *given;
    return given;
  };
}

}  // namespace praxis::app
