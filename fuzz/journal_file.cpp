// A journal whose file was changed anywhere: reading returns what was written or an error, never other data.
// The input is a list of changes, five bytes each: the position (four bytes, modulo the size) and the new
// byte; if all four are 255, the file ends as many times 256 bytes earlier.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "logs/append.hpp"
#include "praxis/logs/logs.hpp"

namespace {

using namespace praxis;
namespace fs = std::filesystem;

/// A journal with two sessions and a blob, written once, and the path of its copies to damage.
class Original {
 public:
  Original() {
    const std::string path = folder_ / "original";
    {
      const auto journal = sqlite_journal(path).value();
      write(*journal, SessionId("01ROOT"), 40);
      write(*journal, SessionId("02CHILD"), 3);
      for (const SessionRow& row : journal->sessions().value()) logs_[row.id] = journal->read(row.id).value();
    }
    std::ifstream in(path, std::ios::binary);
    bytes_.assign(std::istreambuf_iterator<char>(in), {});
  }

  void check(std::string damaged) {
    const std::string path = folder_ / "copy";
    for (const char* end : {"-wal", "-shm"}) fs::remove(path + end);
    std::ofstream(path, std::ios::binary | std::ios::trunc) << damaged;
    const auto journal = sqlite_journal(path, {.create = false, .read_only = true});
    if (!journal) return;
    (void)(*journal)->sessions();
    for (const auto& [session, log] : logs_) check(**journal, session, log);
  }

  const std::string& bytes() const { return bytes_; }

 private:
  static void write(Journal& journal, const SessionId& session, int entries) {
    const Lease lease = journal.create(session, {1000}).value();
    Append append;
    append.lease = lease;
    append.row.agent = "notes";
    append.blobs = {{digest_of("a blob"), "a blob"}};
    for (int i = 0; i < entries; ++i)
      append.entries.push_back(
          {"message_appended", {1000 + i}, R"({"text":")" + std::string(20, 'x') + "\"}"});
    if (!append_and_wait(journal, std::move(append))) std::abort();
    journal.release(lease);
  }

  static void check(Journal& journal, const SessionId& session, const std::vector<Entry>& log) {
    const auto found = journal.read(session);
    if (!found) return;
    if (found->size() != log.size()) std::abort();
    for (std::size_t i = 0; i < log.size(); ++i) {
      const Entry &is = (*found)[i], &was = log[i];
      if (is.seq != was.seq || is.kind != was.kind || is.time != was.time || is.body != was.body)
        std::abort();
    }
    const auto blob = journal.blob(digest_of("a blob"));
    if (blob && *blob != "a blob") std::abort();
  }

  struct Folder {
    Folder() {
      path = fs::is_directory("/dev/shm") ? "/dev/shm" : fs::temp_directory_path();
      path /= "praxis-fuzz-XXXXXX";
      std::string name = path;
      path = mkdtemp(name.data());
    }
    ~Folder() { fs::remove_all(path); }
    std::string operator/(const char* name) const { return path / name; }
    fs::path path;
  };

  Folder folder_;
  std::string bytes_;
  std::map<SessionId, std::vector<Entry>> logs_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Original original;
  std::string damaged = original.bytes();
  for (; size >= 5 && !damaged.empty(); data += 5, size -= 5) {
    std::uint32_t where = 0;
    for (int i = 0; i < 4; ++i) where = where << 8 | data[i];
    if (where == UINT32_MAX) {
      damaged.resize(damaged.size() - std::min<std::size_t>(damaged.size(), std::size_t{data[4]} * 256));
    } else {
      damaged[where % damaged.size()] = static_cast<char>(data[4]);
    }
  }
  original.check(std::move(damaged));
  return 0;
}
