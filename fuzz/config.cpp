// Arbitrary bytes as a configuration file, of the system or of a project (by the first byte): an invalid file
// is one error of kind input, and a project redirects neither the journal nor the requests.
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "praxis/app/config.hpp"
#include "praxis/models/catalog.hpp"

namespace {

using namespace praxis;
namespace fs = std::filesystem;

/// Folders with a configuration file, in memory if possible.
class Place {
 public:
  Place() {
    const fs::path memory = "/dev/shm";
    std::string name = (fs::is_directory(memory) ? memory : fs::temp_directory_path()) / "praxis-fuzz-XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  ~Place() { fs::remove_all(folder_); }

  Result<Config> load(std::string_view text, bool project) const {
    const fs::path file = folder_ / "config.toml";
    const auto no_variable = [](const std::string&) { return std::string(); };
    if (project)
      return load_config({.env = no_variable,
                          .system_file = folder_ / "none",
                          .project = {{"project.toml", folder_, std::string(text)}}});
    std::ofstream(file, std::ios::binary | std::ios::trunc) << text;
    return load_config({.env = no_variable, .system_file = file});
  }

 private:
  fs::path folder_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  static const Place place;
  const bool project = data[0] % 2 == 1;
  const auto config = place.load({reinterpret_cast<const char*>(data) + 1, size - 1}, project);
  if (!config) return config.error().code == ErrorCode::kInput ? 0 : (std::abort(), 1);
  for (const auto& [key, setting] : config->settings) {
    if (setting.origin.empty()) std::abort();
  }
  if (project && !config->get("journal").empty()) std::abort();
  for (const auto* provider : {"openai", "anthropic"}) {
    const Json& moved = json_at(json_at(json_at(config->corrections, "providers"), provider), "base_url");
    if (project && !moved.is_null()) std::abort();
  }
  const auto catalog = catalog_with(config->corrections);
  if (!catalog && catalog.error().code != ErrorCode::kInput) std::abort();
  return 0;
}
