#include "app/journal_key.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <utility>

#include "app/hints.hpp"
#include "app/own_folder.hpp"
#include "app/plain_text.hpp"
#include "app/values.hpp"
#include "base/regular_file.hpp"
#include "praxis/process/process.hpp"

namespace praxis::app {
namespace {

constexpr std::size_t kMostKeyText = 4096;
constexpr Millis kMostKeyTime{60'000};
constexpr const char* kPassphraseVariable = "PRAXIS_JOURNAL_PASSPHRASE";

using Secret = Result<std::shared_ptr<const SealSecret>>;

std::unexpected<Error> no_secret(const std::string& source, const std::string& what) {
  return fail(ErrorCode::kInput, "the key of the journal, " + source + ": " + what);
}

/// Makes a key of a text, which is wiped.
Secret key_in(const std::string& source, std::string text) {
  auto key = SealKey::parse(text);
  wipe(text);
  if (!key) return no_secret(source, key.error().message);
  return std::make_shared<const SealSecret>(*std::move(key));
}

Secret key_in_file(const std::string& source, const std::string& path) {
  const auto file = open_regular_file(path);
  if (!file) return no_secret(source, file.error().message);
  if (file->about.st_uid != geteuid() || (file->about.st_mode & (S_IRWXG | S_IRWXO)) != 0)
    return no_secret(source, "the file must belong to you and be for you only; chmod 600 it");
  auto text = read_whole(*file, path, kMostKeyText);
  if (!text) return no_secret(source, text.error().message);
  return key_in(source, *std::move(text));
}

/// Runs the command with the rights and the environment of the user; what it prints on standard error is not
/// shown, because it could repeat the key.
Secret key_by_command(const std::string& source, const std::string& command) {
  ProcessSpec spec;
  spec.argv = {"/bin/sh", "-c", command};
  for (const std::string& name : environment_names()) spec.environment[name] = environment_variable(name);
  spec.folder = std::filesystem::current_path().string();
  spec.limits.output_bytes = kMostKeyText;
  spec.limits.wall_time = kMostKeyTime;
  auto process = start_process(spec);
  if (!process) return no_secret(source, process.error().message);
  auto ended = process->wait({});
  if (!ended) return no_secret(source, ended.error().message);
  if (ended->end != ProcessEnd::kExited) return no_secret(source, "the command did not end by itself");
  if (ended->exit_code != 0)
    return no_secret(source, "the command failed with status " + std::to_string(ended->exit_code));
  return key_in(source, std::move(ended->out.head));
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
  for (const std::string_view form : {"file:", "env:", "command:"}) {
    if (source.starts_with(form) && source.size() > form.size()) return {};
  }
  if (source == "passphrase") return {};
  return fail(usage_error("not the source of a key: " + in_quotes(source),
                          "file:PATH, env:NAME, command:COMMAND, or passphrase"));
}

AskSealSecret journal_secret(const std::string& source, AskPassphrase ask) {
  if (source.empty()) return {};
  return [source, ask = std::move(ask)]() -> Secret {
    if (auto known = check_key_source(source); !known) return fail(std::move(known.error()));
    const std::string rest = source.substr(source.find(':') + 1);
    if (source.starts_with("file:")) return key_in_file(source, rest);
    if (source.starts_with("command:")) return key_by_command("command", rest);
    if (source == "passphrase") return passphrase(ask);
    std::string text = environment_variable(rest);
    if (text.empty()) return no_secret(source, "the variable is not set");
    return key_in(source, std::move(text));
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
