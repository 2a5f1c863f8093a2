#include "app/secret_source.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>
#include <vector>

#include "app/own_folder.hpp"
#include "base/regular_file.hpp"
#include "praxis/process/process.hpp"

namespace praxis::app {
namespace {

using SourceKind = SecretSource::Kind;

struct SourceForm {
  std::string_view begin;
  SourceKind kind;
};
constexpr std::array kSourceForms{
    SourceForm{"file:", SourceKind::kFile}, SourceForm{"env:", SourceKind::kVariable},
    SourceForm{"command:", SourceKind::kCommand}, SourceForm{"keyring:", SourceKind::kKeyring}};

constexpr Millis kMostSourceTime{60'000};
/// The command of libsecret, which asks the keyring of the desktop.
constexpr const char* kKeyringProgram = "secret-tool";

std::unexpected<Error> bad_source(std::string what) { return fail(ErrorCode::kInput, std::move(what)); }

/// Takes the text over into memory of its own.
Result<SecretBytes> taken_over(std::string text, std::size_t most) {
  const std::size_t size = text.size();
  SecretBytes bytes(std::string_view(text).substr(0, most));
  wipe(text);
  if (size == 0) return bad_source("it is empty");
  if (size > most) return bad_source("it is longer than " + std::to_string(most) + " bytes");
  return bytes;
}
/// The same with what a program printed.
Result<SecretBytes> printed(ProcessOutput& out, std::size_t most) {
  std::string text = out.text();
  wipe(out.head);
  wipe(out.tail);
  return taken_over(std::move(text), most);
}

Result<SecretBytes> read_from_file(const std::string& path, std::size_t most) {
  const auto file = open_regular_file(path);
  if (!file) return bad_source(file.error().message);
  if (file->about.st_uid != geteuid() || (file->about.st_mode & (S_IRWXG | S_IRWXO)) != 0)
    return bad_source("the file must belong to you and be for you only; chmod 600 it");
  auto text = read_whole(*file, path, most);
  if (!text) return bad_source(text.error().message);
  return taken_over(*std::move(text), most);
}

Result<SecretBytes> read_from_variable(const std::string& name, std::size_t most) {
  std::string text = environment_variable(name);
  if (text.empty()) return bad_source("the variable is not set");
  return taken_over(std::move(text), most);
}

Result<ProcessResult> run_to_end(std::vector<std::string> argv, std::size_t most) {
  ProcessSpec spec;
  spec.argv = std::move(argv);
  for (const std::string& name : environment_names()) spec.environment[name] = environment_variable(name);
  spec.folder = std::filesystem::current_path().string();
  spec.limits.output_bytes = most;
  spec.limits.wall_time = kMostSourceTime;
  auto process = start_process(spec);
  if (!process) return fail(std::move(process.error()));
  return process->wait({});
}

Result<SecretBytes> read_from_command(const std::string& command, std::size_t most) {
  auto ended = run_to_end({"/bin/sh", "-c", command}, most);
  if (!ended) return bad_source(ended.error().message);
  if (ended->end != ProcessEnd::kExited) return bad_source("the command did not end by itself");
  if (ended->exit_code != 0)
    return bad_source("the command failed with status " + std::to_string(ended->exit_code));
  return printed(ended->out, most);
}

/// Asks by the attributes under which other programs keep secrets, too: `service` and `username`.
Result<SecretBytes> read_from_keyring(const std::string& place, std::size_t most) {
  const std::size_t at = place.rfind('/');
  auto ended = run_to_end(
      {kKeyringProgram, "lookup", "service", place.substr(0, at), "username", place.substr(at + 1)}, most);
  if (!ended)
    return bad_source(
        "the keyring is asked by secret-tool, which cannot be started; install libsecret-tools");
  if (ended->end != ProcessEnd::kExited) return bad_source("secret-tool did not end by itself");
  if (ended->exit_code != 0 || ended->out.total_bytes == 0)
    return bad_source("the keyring has no such entry, or is locked");
  return printed(ended->out, most);
}

}  // namespace

Result<SecretSource> SecretSource::parse(std::string_view text) {
  const auto form = std::ranges::find_if(
      kSourceForms, [&](const SourceForm& each) { return text.starts_with(each.begin); });
  if (form != kSourceForms.end()) {
    SecretSource source{form->kind, std::string(text.substr(form->begin.size()))};
    const std::size_t slash = source.place.rfind('/');
    const bool has_account = slash != source.place.npos && slash > 0 && slash + 1 < source.place.size();
    if (!source.place.empty() && (source.kind != Kind::kKeyring || has_account)) return source;
  }
  return bad_source("a secret comes from file:PATH, env:NAME, command:COMMAND or keyring:SERVICE/ACCOUNT");
}

std::string SecretSource::shown() const {
  for (const SourceForm& form : kSourceForms) {
    if (form.kind == kind) return kind == Kind::kCommand ? "command" : std::string(form.begin) + place;
  }
  std::unreachable();
}

Result<SecretBytes> read_secret(const SecretSource& source, std::size_t most) {
  switch (source.kind) {
    case SourceKind::kFile:
      return read_from_file(source.place, most);
    case SourceKind::kVariable:
      return read_from_variable(source.place, most);
    case SourceKind::kCommand:
      return read_from_command(source.place, most);
    case SourceKind::kKeyring:
      return read_from_keyring(source.place, most);
  }
  std::unreachable();
}

}  // namespace praxis::app
