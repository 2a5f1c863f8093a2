// Signed heads of a journal.
#include <fcntl.h>
#include <sodium.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <utility>

#include "app/audit.hpp"
#include "base/private_folders.hpp"
#include "base/regular_file.hpp"
#include "base/write_all.hpp"
#include "praxis/base/base64.hpp"
#include "praxis/base/dates.hpp"

namespace praxis::app {
namespace {

constexpr std::string_view kHeadContext = "praxis audit head 1\n";
constexpr std::size_t kMostKeyBytes = 1'024;
constexpr std::size_t kHeadPage = 1'000;  // entries that are read at a time

const unsigned char* unsigned_bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

std::unexpected<Error> key_problem(const std::string& path, const std::string& what) {
  return fail(ErrorCode::kInput, "the key of the audit, " + path + ", " + what);
}

/// The text that is signed: all but the signature.
std::string signed_text(const JsonObject& head) {
  JsonObject rest = head;
  rest.erase("signature");
  return std::string(kHeadContext) + to_canonical_json(rest);
}

struct LogEnd {
  std::uint64_t entries = 0;
  Digest hash;
};

/// Reads a log to its end, checked against its chain. `at`: the entry of this number instead of the last.
Result<LogEnd> end_of_log(Journal& journal, const SessionId& session, std::uint64_t at = 0) {
  LogEnd end;
  while (true) {
    const auto page = journal.read(session, end.entries + 1, kHeadPage);
    if (!page) return fail(page.error());
    for (const Entry& entry : *page) {
      if (at != 0 && entry.seq > at) return end;
      end = {entry.seq, entry.hash};
    }
    if (page->size() < kHeadPage) return end;
  }
}

/// The chain of the first `count` changes.
Digest chain_of(const std::vector<PromptChange>& changes, std::size_t count) {
  Digest digest;
  for (std::size_t i = 0; i < count; ++i)
    digest = digest_chain(digest, to_canonical_json(to_json(changes[i])));
  return digest;
}

std::string problem_of_log(const Json& of_head, Journal& journal, std::uint64_t& later) {
  const SessionId id{json_string(of_head, "id")};
  const auto entries = static_cast<std::uint64_t>(json_int(of_head, "entries"));
  const auto row = journal.session(id);
  if (!row && row.error().kind() == ErrorKind::kNotFound) return "session " + id.str() + " is not there";
  const auto then = end_of_log(journal, id, entries);
  if (!then) return "session " + id.str() + ": " + then.error().message;
  if (then->entries < entries)
    return "session " + id.str() + " ends after " + std::to_string(then->entries) + " of " +
           std::to_string(entries) + " entries";
  if (then->hash.hex() != json_string(of_head, "hash"))
    return "session " + id.str() + " has another history up to entry " + std::to_string(entries);
  if (row) later += row->entries - std::min(row->entries, entries);
  return {};
}

}  // namespace

Result<AuditKey> AuditKey::open(const std::string& folder, bool create) {
  const std::string path = (std::filesystem::path(folder) / "audit.key").string();
  AuditKey key;
  FileDescriptor file = open_state_file(path, O_RDONLY);
  if (file.get() < 0 && errno == ENOENT && create) {
    if (const int error = make_private_folders(folder); error != 0)
      return key_problem(path, std::string("cannot be created: ") + std::strerror(error));
    if (sodium_init() < 0) return key_problem(path, "cannot be made: there is no random source");
    key.secret_.resize(crypto_sign_SECRETKEYBYTES);
    std::string unused(crypto_sign_PUBLICKEYBYTES, '\0');
    crypto_sign_keypair(reinterpret_cast<unsigned char*>(unused.data()),
                        reinterpret_cast<unsigned char*>(key.secret_.data()));
    file = open_state_file(path, O_WRONLY | O_CREAT | O_EXCL);
    if (file.get() >= 0) {
      keep_own_rights(file.get());
      const int error = write_all(file.get(), base64_encode(key.secret_) + '\n');
      if (error != 0 || fsync(file.get()) != 0)
        return key_problem(path,
                           std::string("cannot be written: ") + std::strerror(error != 0 ? error : errno));
      return key;
    }
  }
  if (file.get() < 0) return key_problem(path, std::string("cannot be opened: ") + std::strerror(errno));
  auto opened = regular_file_of(std::move(file), path);
  if (!opened) return fail(std::move(opened.error()));
  if (opened->about.st_uid != geteuid() || (opened->about.st_mode & (S_IRWXG | S_IRWXO)) != 0)
    return key_problem(path, "must belong to you and be for you only; chmod 600 it");
  auto text = read_whole(*opened, path, kMostKeyBytes);
  if (!text) return fail(std::move(text.error()));
  auto secret = base64_decode(std::string_view(*text).substr(0, text->find('\n')));
  if (!secret || secret->size() != crypto_sign_SECRETKEYBYTES) return key_problem(path, "is not a key");
  key.secret_ = *std::move(secret);
  return key;
}

std::string AuditKey::public_key() const {
  // libsodium keeps the public key behind the seed.
  return base64_encode(std::string_view(secret_).substr(crypto_sign_SEEDBYTES));
}

std::string AuditKey::sign(std::string_view text) const {
  std::string signature(crypto_sign_BYTES, '\0');
  crypto_sign_detached(reinterpret_cast<unsigned char*>(signature.data()), nullptr, unsigned_bytes(text),
                       text.size(), unsigned_bytes(secret_));
  return base64_encode(signature);
}

Result<JsonObject> audit_head(Journal& journal, const std::vector<PromptChange>& prompts, UnixMillis now) {
  auto rows = journal.sessions();
  if (!rows) return fail(rows.error());
  std::ranges::sort(*rows, {}, &SessionRow::id);
  JsonArray sessions;
  for (const SessionRow& row : *rows) {
    const auto end = end_of_log(journal, row.id);
    if (!end && end.error().kind() == ErrorKind::kNotFound) continue;  // removed meanwhile
    if (!end) return fail(end.error());
    sessions.push_back(
        JsonObject{{"id", row.id.str()}, {"entries", end->entries}, {"hash", end->hash.hex()}});
  }
  return JsonObject{{"praxis_audit", 1},
                    {"time", to_iso8601(now)},
                    {"sessions", std::move(sessions)},
                    {"prompts", JsonObject{{"changes", prompts.size()},
                                           {"hash", chain_of(prompts, prompts.size()).hex()}}}};
}

void sign_head(JsonObject& head, const AuditKey& key) {
  head["key"] = key.public_key();
  head["signature"] = key.sign(signed_text(head));
}

Result<HeadCheck> check_head(const Json& head, const std::string& key, Journal& journal,
                             const std::vector<PromptChange>& prompts) {
  const auto refused = [](const char* why) {
    return fail(ErrorCode::kInput, std::string("the head ") + why);
  };
  const auto time = from_iso8601(json_string(head, "time"));
  const JsonArray* const sessions = json_at(head, "sessions").if_array();
  if (json_int(head, "praxis_audit") != 1 || sessions == nullptr || !time)
    return refused("is not one that praxis audit --sign wrote");
  const auto signature = base64_decode(json_string(head, "signature")), signer = base64_decode(key);
  if (!signer || signer->size() != crypto_sign_PUBLICKEYBYTES)
    return fail(ErrorCode::kInput, "the public key must be 32 bytes in base 64");
  const std::string text = signed_text(head.get_object());
  if (json_string(head, "key") != key) return refused("is signed by another key");
  if (!signature || signature->size() != crypto_sign_BYTES ||
      crypto_sign_verify_detached(unsigned_bytes(*signature), unsigned_bytes(text), text.size(),
                                  unsigned_bytes(*signer)) != 0)
    return refused("was changed after it was signed");
  HeadCheck check{.time = *time, .sessions = sessions->size()};
  for (const Json& each : *sessions) {
    std::string problem = problem_of_log(each, journal, check.later);
    if (!problem.empty()) check.problems.push_back(std::move(problem));
  }
  const Json& then = json_at(head, "prompts");
  const auto changes = static_cast<std::size_t>(json_int(then, "changes"));
  if (changes > prompts.size()) {
    check.problems.push_back("there are " + std::to_string(prompts.size()) + " of " +
                             std::to_string(changes) + " changes of prompts");
  } else if (chain_of(prompts, changes).hex() != json_string(then, "hash")) {
    check.problems.emplace_back("the prompts have another history");
  }
  return check;
}

}  // namespace praxis::app
