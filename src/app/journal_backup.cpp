#include "app/journal_backup.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "app/hints.hpp"
#include "app/sealed_stores.hpp"
#include "base/file_descriptor.hpp"
#include "base/out_of_space.hpp"
#include "journal/accept_loss.hpp"
#include "memory/memory_file.hpp"
#include "prompts/sqlite_prompts.hpp"
#include "store/sqlite_copy.hpp"

namespace praxis::app {
namespace {

namespace fs = std::filesystem;

std::unexpected<Error> cannot(const std::string& doing, int cause) {
  return fail(
      make_error(ErrorCode::kJournal, kind_of_write_error(cause), doing + ": " + std::strerror(cause)));
}

/// A folder with a name of its own until it is whole; removed unless `publish` succeeds.
class PartialFolder {
 public:
  static Result<PartialFolder> make(const std::string& folder) {
    std::string name = folder + ".partial-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) return cannot("cannot make the folder " + name, errno);
    return PartialFolder(std::move(name));
  }
  PartialFolder(PartialFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  PartialFolder& operator=(PartialFolder&&) = delete;
  ~PartialFolder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }

  const std::string& path() const { return path_; }

  /// Gives the folder its name, durably.
  Status publish(const std::string& folder) {
    const FileDescriptor own(open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    const std::string parent = fs::path(folder).parent_path().string();
    const FileDescriptor above(open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (own.get() < 0 || above.get() < 0 || fsync(own.get()) != 0 ||
        rename(path_.c_str(), folder.c_str()) != 0)
      return cannot("cannot give the backup its name " + folder, errno);
    path_.clear();
    if (fsync(above.get()) != 0) return cannot("cannot sync the folder " + parent, errno);
    return {};
  }

 private:
  explicit PartialFolder(std::string path) : path_(std::move(path)) {}

  std::string path_;
};

/// The name of a store's copy: the same for all backups, whatever the files are called here.
std::string name_of_copy(const Workspace& workspace, const SealedStore& store) {
  if (store.form == &prompts_form()) return "prompts.db";
  if (store.form == &memory_form()) return "memory.db";
  return "journal.db" + store.path.substr(workspace.journal.size());
}

Status copy_into(const std::string& folder, const std::string& name, const std::string& from,
                 std::string_view what, JournalBackup& backup) {
  const std::string to = folder + "/" + name;
  if (auto copied = copy_sqlite_file(from, to, what); !copied) return copied;
  std::error_code ignored;
  backup.files.push_back({std::string(what), name, fs::file_size(to, ignored)});
  return {};
}

Status check_target(const Workspace& workspace, const std::string& folder) {
  if (!workspace.in_file())
    return fail(usage_error("only a journal in a file can be backed up so",
                            "use pg_dump for PostgreSQL; --journal FILE names a file"));
  std::error_code ignored;
  if (fs::exists(fs::symlink_status(folder, ignored)))
    return fail(usage_error(folder + " exists", "a backup is made in a new folder: name another one"));
  if (!fs::is_directory(fs::path(folder).parent_path(), ignored))
    return fail(usage_error("the folder " + fs::path(folder).parent_path().string() + " does not exist",
                            "make it first"));
  return {};
}

}  // namespace

Result<JournalBackup> back_up_journal(const Workspace& workspace, const std::string& folder) {
  std::string target = fs::absolute(folder).lexically_normal().string();
  while (target.size() > 1 && target.ends_with('/')) target.pop_back();
  if (auto good = check_target(workspace, target); !good) return fail(good.error());
  auto head = head_of_journal(workspace.journal);
  if (!head) return fail(head.error());
  auto partial = PartialFolder::make(target);
  if (!partial) return fail(partial.error());
  JournalBackup backup{{}, *head};
  auto copied = copy_into(partial->path(), "journal.db", workspace.journal, "journal", backup);
  if (copied) copied = check_journal_head(partial->path() + "/journal.db", *head);
  for (const SealedStore& store : stores_of(workspace)) {
    if (!copied) break;
    copied = copy_into(partial->path(), name_of_copy(workspace, store), store.path, store.form->what, backup);
  }
  if (copied) copied = partial->publish(target);
  if (!copied) return fail(copied.error());
  for (BackedUpFile& file : backup.files) file.path = target + "/" + file.path;
  return backup;
}

}  // namespace praxis::app
