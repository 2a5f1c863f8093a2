// Reads recorded exchanges with our codecs and prints one line of JSON for each: the result of reading the
// response, and for every exchange after a case's first, how the request that we make from our own reading
// compares with the recorded one.
//
//   wire_check [--requests] DIR...
//
// DIR is a case or a folder with cases at any depth. With --requests every request is compared, including the
// first.
#include <iostream>
#include <span>
#include <string_view>

#include "wire/rebuilding.hpp"

namespace {

using namespace praxis;

/// Returns the name of a case: its path below the given folder, else its own name.
std::string name_of(const std::filesystem::path& folder, const std::filesystem::path& given) {
  const std::string below = folder.lexically_relative(given).generic_string();
  return below == "." ? wire::absolute_path(folder).filename().string() : below;
}

/// Prints the lines of one case; false if it cannot be read.
bool print_case(const std::filesystem::path& folder, const std::string& name, const Catalog& catalog,
                bool all_requests) {
  const auto recorded = wire::read_case(folder);
  if (!recorded) {
    std::cerr << "wire_check: " << recorded.error().message << '\n';
    return false;
  }
  for (Json& line : wire::lines_of(*recorded, name, catalog, all_requests))
    std::cout << to_json_text(line) << '\n';
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  std::span<char* const> folders(argv + 1, static_cast<std::size_t>(std::max(argc - 1, 0)));
  const bool all_requests = !folders.empty() && std::string_view(folders.front()) == "--requests";
  if (all_requests) folders = folders.subspan(1);
  if (folders.empty()) {
    std::cerr << "usage: wire_check [--requests] DIR...\n";
    return 2;
  }
  const auto catalog = built_in_catalog();
  bool all_read = true;
  for (const char* folder : folders) {
    const auto cases = wire::find_cases(folder);
    if (cases.empty()) {
      std::cerr << "wire_check: no exchanges.jsonl in " << folder << '\n';
      all_read = false;
    }
    for (const auto& one : cases) all_read &= print_case(one, name_of(one, folder), *catalog, all_requests);
  }
  return all_read ? 0 : 1;
}
