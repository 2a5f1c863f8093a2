// Sandboxes are built and files are read and written while forty threads put links in the place of every
// component of every granted path.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include "base/file_descriptor.hpp"
#include "fault.hpp"
#include "praxis/process/process.hpp"
#include "praxis/tools/file_tool.hpp"
#include "tools/testing/call.hpp"

namespace praxis::faults {
namespace races {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kSwappers = 40;
constexpr const char* kSecret = "canary-9e02a4";
/// Each component of each granted or protected path: the folder that holds it, and its name there.
struct Component {
  const char* folder;
  const char* name;
};
constexpr std::array kComponents{Component{"ws", "grant"},       Component{"ws/grant", "inner"},
                                 Component{"ws", "docs"},        Component{"ws/docs", "inner"},
                                 Component{"ws", "team"},        Component{"ws/team", "a"},
                                 Component{"ws/team/a", ".git"}, Component{"ws", "notes"}};
/// Folders outside that look like those inside, so that a link at any component leads to files.
constexpr std::array kOutside{"out", "out/inner", "out/a", "out/.git", "out/a/.git"};

class Ground {
 public:
  Ground() {
    std::string name = (fs::temp_directory_path() / "praxis_races_XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    top_ = name;
    fs::permissions(top_, fs::perms(0755));  // the way in must not be what protects
    for (const Component& one : kComponents) make(fs::path(one.folder) / one.name, "inside");
    for (const char* folder : kOutside) make(folder, kSecret);
    // All before the first swap: the folder of a component must be the real one.
    for (const Component& one : kComponents)
      folders_.emplace_back(open((top_ / one.folder).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    for (std::size_t i = 0; i < kSwappers; ++i)
      threads_.emplace_back([this, i](const std::stop_token& stop) { swap(i, stop); });
  }
  ~Ground() {
    threads_.clear();
    std::cerr << "races: " << built << " sandboxes were built and " << refused_sandboxes << " refused; "
              << served << " file operations were served and " << refused_files << " refused; " << left_
              << " folders were left; " << swaps_ << " swaps\n";
    std::error_code failed;
    fs::remove_all(top_, failed);
  }
  Ground(const Ground&) = delete;
  Ground& operator=(const Ground&) = delete;

  std::string ws(const char* below = "") const { return top_ / "ws" / below; }
  /// Device, inode, mode, links and content of everything outside.
  std::map<std::string, std::string> outside() const {
    std::map<std::string, std::string> all;
    for (const auto& entry : fs::recursive_directory_iterator(top_ / "out")) {
      struct stat info{};
      lstat(entry.path().c_str(), &info);
      std::ifstream file(entry.path());
      std::string text = std::to_string(info.st_dev) + ' ' + std::to_string(info.st_ino) + ' ' +
                         std::to_string(info.st_mode) + ' ' + std::to_string(info.st_nlink) + ' ';
      if (entry.is_regular_file()) text.append(std::istreambuf_iterator<char>(file), {});
      all[entry.path()] = text;
    }
    return all;
  }

  /// Of each thread between two swaps, in microseconds.
  std::atomic<std::uint64_t> most_wait = 400'000;
  std::uint64_t built = 0, refused_sandboxes = 0, served = 0, refused_files = 0;

 private:
  void make(const fs::path& folder, const char* text) const {
    fs::create_directories(top_ / folder);
    fs::permissions(top_ / folder, fs::perms::all);
    for (const char* file : {"config", "file"}) {
      std::ofstream(top_ / folder / file) << text << '\n';
      fs::permissions(top_ / folder / file, fs::perms(0666));
    }
  }

  /// Puts a link in the place of one component and takes it away again, until stopped. Works in the real
  /// folder, wherever other threads have moved it: this must not change anything outside itself.
  void swap(std::size_t index, const std::stop_token& stop) {
    const Component& one = kComponents[index % kComponents.size()];
    const int at = folders_[index % kComponents.size()].get();
    const std::string aside = ".aside" + std::to_string(index), link = ".link" + std::to_string(index);
    const std::string target = top_ / (index % 3 == 0 ? "out/a" : "out");
    Random random(index);
    while (!stop.stop_requested()) {
      {
        const std::lock_guard lock(locks_[index % kComponents.size()]);
        switch (random.below(3)) {
          case 0:  // it is gone for a moment
            renameat(at, one.name, at, aside.c_str());
            pause(random);
            put_back(at, aside, one.name);
            break;
          case 1:  // it is a link, without a moment in which it is gone
            symlinkat(target.c_str(), at, link.c_str());
            renameat2(at, link.c_str(), at, one.name, RENAME_EXCHANGE);
            pause(random);
            renameat2(at, link.c_str(), at, one.name, RENAME_EXCHANGE);
            unlinkat(at, link.c_str(), 0);
            break;
          default:  // it is gone, then a link
            renameat(at, one.name, at, aside.c_str());
            symlinkat(target.c_str(), at, one.name);
            pause(random);
            unlinkat(at, one.name, 0);
            put_back(at, aside, one.name);
        }
        ++swaps_;
      }
      usleep(static_cast<useconds_t>(random.below(most_wait)));
    }
  }
  /// Moves a component back to its name, and what a sandbox or a tool has made there meanwhile out of the
  /// way.
  void put_back(int at, const std::string& aside, const char* name) {
    if (renameat(at, aside.c_str(), at, name) == 0) return;
    if (renameat2(at, aside.c_str(), at, name, RENAME_EXCHANGE) != 0) return;
    renameat(at, aside.c_str(), at, (".left" + std::to_string(++left_)).c_str());
  }
  static void pause(Random& random) { usleep(static_cast<useconds_t>(random.below(300))); }

  fs::path top_;
  std::vector<FileDescriptor> folders_;  ///< that hold the components
  std::array<std::mutex, kComponents.size()> locks_;
  std::atomic<std::uint64_t> swaps_ = 0, left_ = 0;
  std::vector<std::jthread> threads_;
};

void build_a_sandbox(Ground& ground) {
  ProcessSpec spec;
  spec.argv = {"/bin/sh", "-c",
               "for at in . grant grant/inner docs docs/inner team team/a team/a/.git notes; do\n"
               "  cat $at/config $at/file; echo evil > $at/evil\n"
               "done 2> /dev/null; echo ran"};
  spec.environment = {{"PATH", "/usr/bin:/bin"}};
  spec.folder = ground.ws();
  spec.limits.wall_time = Millis(30'000);
  spec.sandbox.emplace();
  spec.sandbox->writable = {ground.ws(), ground.ws("grant/inner")};
  spec.sandbox->readable = {ground.ws("docs/inner")};
  auto process = start_process(spec);
  if (!process) {
    EXPECT_EQ(process.error().code, ErrorCode::kPolicy) << process.error().message;
    ++ground.refused_sandboxes;
    return;
  }
  const auto result = must(process->wait({}));
  EXPECT_EQ(result.out.text().find(kSecret), std::string::npos) << "a sandbox read a file outside";
  EXPECT_TRUE(result.out.text().ends_with("ran\n")) << result.err.text();
  ++ground.built;
}

void use_files(Ground& ground, Random& random) {
  const FileBounds bounds{.no_links_below = {ground.ws()}, .protect = {}, .hide = {}};
  const bool writes = random.once_in(2);
  const char* path = random.once_in(2) ? "file" : "inner/file";
  const Tool tool = writes ? file_write_tool({ground.ws("notes"), ground.ws("grant")}, bounds)
                           : file_read_tool({ground.ws("docs"), ground.ws("grant/inner")}, bounds);
  const auto done = writes ? call_with(tool, JsonObject{{"path", path}, {"content", "written"}})
                           : call_with(tool, JsonObject{{"op", "read"}, {"path", path}});
  EXPECT_EQ(text_of(done).find(kSecret), std::string::npos) << "a tool read a file outside";
  ++(done ? ground.served : ground.refused_files);
}

Run start() {
  if (!probe_sandbox().full()) throw Skipped{probe_sandbox().reason()};
  auto ground = std::make_shared<Ground>();
  return [ground, before = ground->outside()](std::uint64_t seed) {
    Random random(seed);
    // Many swaps find the checks that refuse, few of them what comes after.
    constexpr std::array<std::uint64_t, 4> kWaits{20'000, 200'000, 500'000, 1'500'000};
    ground->most_wait = kWaits[random.below(kWaits.size())];
    {
      const std::jthread files([&] { use_files(*ground, random); });
      build_a_sandbox(*ground);
    }
    EXPECT_EQ(ground->outside(), before) << "something outside was changed";
  };
}

}  // namespace
}  // namespace races

Fault races_fault() {
  return {.name = "races",
          .breaks =
              "40 threads replace every component of every granted path by links, by rename and exchange, "
              "while a sandbox is built and a file tool reads or writes",
          .holds =
              "no sandbox and no tool reads or writes outside: each is refused or stays inside (content, "
              "inode)",
          .few = 300,
          .many = 10'000,
          .start = races::start};
}

}  // namespace praxis::faults
