#include "store/file_places.hpp"

#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace praxis {
namespace {

/// The beginning of the index of a log (https://www.sqlite.org/walformat.html), in the machine's byte order.
struct IndexHeader {
  std::uint32_t version, unused, changes;
  std::uint8_t initialised, big_endian_checksums;
  std::uint16_t page_size;  ///< 1: 65536
  std::uint32_t frames;     ///< in the log
  std::uint32_t pages;
  std::array<std::uint32_t, 2> checksum;
  std::array<char, 8> salts;  ///< as in the header of the log
};
static_assert(sizeof(IndexHeader) == 40);

constexpr int kIndexPage = 32 * 1024, kLogHeaderSize = 32, kFrameHeaderSize = 24;
constexpr std::size_t kSaltsAt = 16;  // in the header of a log

/// Returns the header of the index that the connection shares with others; all zero without one.
IndexHeader index_header(sqlite3* connection) {
  IndexHeader header{};
  sqlite3_file* file = nullptr;
  volatile void* page = nullptr;
  sqlite3_file_control(connection, "main", SQLITE_FCNTL_FILE_POINTER, &file);
  if (file == nullptr || file->pMethods == nullptr || file->pMethods->iVersion < 2) return header;
  if (file->pMethods->xShmMap(file, 0, kIndexPage, 0, &page) == SQLITE_OK && page != nullptr)
    std::memcpy(&header, const_cast<void*>(page), sizeof header);
  return header;
}

/// Returns the path of a log, which SQLite does not tell for an open file.
std::string path_of_log(sqlite3* connection) {
  const char* path = sqlite3_db_filename(connection, "main");
  return (path == nullptr ? std::string() : std::string(path)) + "-wal";
}

}  // namespace

void FilePlaces::note(Place& place, std::string path) {
  place.path = std::move(path);
  struct stat now{};
  if (stat(place.path.c_str(), &now) != 0) return;
  place.device = now.st_dev;
  place.inode = now.st_ino;
  place.size = now.st_size;
}

FilePlaces::FilePlaces(const std::string& database) {
  note(file_, database);
  note(log_, database + "-wal");
  note(index_, database + "-shm");
}

std::string FilePlaces::what_happened_to(Place& place, bool may_shrink) {
  if (place.inode == 0) return "";
  const std::int64_t before = place.size;  // read before the file, which other threads may see grow
  struct stat now{};
  if (stat(place.path.c_str(), &now) != 0) {
    return errno == ENOENT || errno == ENOTDIR ? place.path + " was deleted or moved away"
                                               : "cannot find " + place.path + ": " + std::strerror(errno);
  }
  if (now.st_ino != place.inode || now.st_dev != place.device)
    return place.path + " was replaced by another file";
  if (now.st_size < before && !may_shrink) return place.path + " was cut";
  place.size = now.st_size;
  return "";
}

std::string FilePlaces::what_happened() {
  std::string happened = what_happened_to(file_, false);
  if (happened.empty()) happened = what_happened_to(log_, true);
  if (happened.empty()) happened = what_happened_to(index_, false);
  return happened;
}

bool FilePlaces::index_is_cut() const {
  struct stat now{};
  return index_.inode != 0 && stat(index_.path.c_str(), &now) == 0 && now.st_ino == index_.inode &&
         now.st_dev == index_.device && now.st_size < index_.size;
}

std::string what_happened_to_log(sqlite3* connection) {
  sqlite3_file* log = nullptr;
  sqlite3_file_control(connection, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
  const IndexHeader index = index_header(connection);
  if (log == nullptr || log->pMethods == nullptr || index.frames == 0) return "";
  const sqlite3_int64 page = index.page_size == 1 ? 65536 : index.page_size;
  sqlite3_int64 size = 0;
  if (log->pMethods->xFileSize(log, &size) != SQLITE_OK) return "";  // the next access reports the fault
  if (size < kLogHeaderSize + index.frames * (kFrameHeaderSize + page))
    return path_of_log(connection) + " was cut";
  std::array<char, kLogHeaderSize> header{};
  if (log->pMethods->xRead(log, header.data(), kLogHeaderSize, 0) != SQLITE_OK) return "";
  if (std::memcmp(header.data() + kSaltsAt, index.salts.data(), index.salts.size()) != 0)
    return path_of_log(connection) + " was overwritten";
  return "";
}

}  // namespace praxis
