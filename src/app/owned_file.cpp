#include "app/owned_file.hpp"

#include <unistd.h>

#include <array>
#include <cstdio>

#include "app/plain_text.hpp"
#include "app/values.hpp"
#include "base/regular_file.hpp"

namespace praxis::app {

std::string why_unsafe(const struct stat& about, const std::string& path) {
  if (about.st_uid != geteuid() && about.st_uid != 0) {
    return in_quotes(path) + " belongs to another user (uid " + std::to_string(about.st_uid) +
           "); if its content is yours: chown " + std::to_string(geteuid()) + ' ' + shell_word(path);
  }
  if ((about.st_mode & (S_IWGRP | S_IWOTH)) == 0) return {};
  std::array<char, 8> mode{};
  std::snprintf(mode.data(), mode.size(), "%04o", about.st_mode & 07777U);
  return in_quotes(path) + " can be written by other users (mode " + mode.data() +
         "); check its content, then: chmod go-w " + shell_word(path);
}

Result<std::string> read_owned_file(const std::string& path, std::size_t max_bytes) {
  const auto file = open_regular_file(path);
  if (!file) return fail(file.error());
  if (std::string unsafe = why_unsafe(file->about, path); !unsafe.empty())
    return fail(ErrorCode::kInput, std::move(unsafe));
  return read_whole(*file, path, max_bytes);
}

}  // namespace praxis::app
