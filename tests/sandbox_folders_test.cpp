// The folders that a sandbox is given: what stays read-only or hidden in them, and that no link leads out of
// them, not even one that is put there while the sandbox is built.
#include <fcntl.h>
#include <gmock/gmock.h>

#include <atomic>
#include <functional>
#include <iostream>
#include <thread>

#include "sandbox_rig.hpp"

namespace praxis::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(SandboxTest, ManyCheckoutsAndFolders_AreAllProtected) {
  for (int i = 0; i < 100; ++i) fs::create_directories(top_ / "ws/many" / std::to_string(i) / ".git/hooks");
  for (int i = 0; i < 2'000; ++i) fs::create_directories(top_ / "ws/plain" / std::to_string(i));
  auto spec = python({"-c",
                      "import os\n"
                      "kept = 0\n"
                      "for i in range(100):\n"
                      "  try: open(f'many/{i}/.git/hooks/post-checkout', 'w')\n"
                      "  except OSError: kept += 1\n"
                      "  open(f'many/{i}/source', 'w')\n"
                      "print(kept)"});
  put_in_sandbox(spec);
  const auto result = run(spec);
  EXPECT_EQ(result.out.text(), "100\n") << result.err.text();
}

TEST_F(SandboxTest, AReadableFolderBelowACheckout_StaysReadOnly) {
  auto spec = python({"-c",
                      "for name in ['team/a/deep/file', 'team/a/deep/er/.mcp.json', 'team/a/.git/config']:\n"
                      "  try: open(name, 'w'); print('OPEN', name)\n"
                      "  except OSError: pass\n"
                      "open('team/a/file', 'w')"});
  put_in_sandbox(spec);
  spec.sandbox->readable = {workspace() + "/team/a/deep"};
  const auto result = run(spec);
  EXPECT_EQ(result.out.text() + result.err.text(), "");
}

TEST_F(SandboxTest, LinkInPlaceOfACheckout_MakesOnlyItsFolderReadOnly) {
  fs::remove(top_ / "ws/team/b/.git");
  fs::create_symlink(top_ / "out", top_ / "ws/team/b/.git");
  auto spec = python({"-c",
                      "import os\n"
                      "open('team/a/made', 'w')\n"
                      "for name in ('team/b/made', 'team/b/.git/made', 'team/b/.vscode/made'):\n"
                      "  try: print('OPEN', open(name, 'w'))\n"
                      "  except OSError: pass\n"
                      "print(open('team/a/.git/config').read())\n"
                      "try: print('OPEN', open('team/b/.env.local').read())\n"
                      "except OSError: pass\n"
                      "try: print('OPEN', os.unlink('team/b/.git'))\n"
                      "except OSError: pass"});
  put_in_sandbox(spec);
  const auto result = run(spec);
  EXPECT_EQ(result.out.text(), "KEY=1\n\n") << result.err.text();
  EXPECT_TRUE(fs::exists(top_ / "ws/team/a/made"));
}

TEST_F(SandboxTest, LinkOnTheWayToAProtectedFile_Stays) {
  fs::create_directories(top_ / "ws/deep");
  fs::create_directory_symlink(top_ / "out", top_ / "ws/deep/way");
  auto spec = python({"-c",
                      "import os\n"
                      "try: print('OPEN', os.rename('deep/way', 'deep/old'))\n"
                      "except OSError: pass\n"
                      "try: print('OPEN', os.unlink('deep/way'))\n"
                      "except OSError: pass\n"
                      "try: print('OPEN', os.rename('deep', 'other'))\n"
                      "except OSError: pass\n"
                      "open('team/a/made', 'w')"});
  put_in_sandbox(spec);
  spec.sandbox->protect = {workspace() + "/deep/way/victim"};
  const auto result = run(spec);
  EXPECT_EQ(result.out.text() + result.err.text(), "");
  EXPECT_TRUE(fs::is_symlink(top_ / "ws/deep/way"));
}

// The path of a caller, written with the link `home`, leads through two links, and another through two at its
// end. Secrets, a protected folder and another link lie beside and above them.
TEST_F(SandboxTest, EachLinkOnTheWayToAProtectedFile_Stays) {
  for (const char* name : {"ws/sub", "ws/tools/v1", "ws/a", "ws/b/c"}) fs::create_directories(top_ / name);
  for (const char* name : {"ws/tools/v1/hook.sh", "ws/tools/.env", "ws/b/c/r.sh", "ws/b/c/.env"})
    std::ofstream(top_ / name) << kSecret;
  fs::create_symlink("../tools", top_ / "ws/sub/way");
  fs::create_symlink("v1", top_ / "ws/tools/cur");
  fs::create_symlink("../b/m.sh", top_ / "ws/a/h.sh");
  fs::create_symlink("c/r.sh", top_ / "ws/b/m.sh");
  fs::create_symlink(top_, top_ / "out/home");
  auto spec = python({"-c",
                      "import os\n"
                      "for path in ('sub/way', 'tools/cur', 'a/h.sh', 'b/m.sh', 'sub', 'tools', 'a', 'b'):\n"
                      "  for way in (lambda: os.rename(path, 'old'), lambda: os.unlink(path)):\n"
                      "    try: print('OPEN', path, way())\n"
                      "    except OSError: pass\n"
                      "for path in ('tools/v1/hook.sh', 'b/c/r.sh', 'tools/new', 'b/c/new'):\n"
                      "  try: print('OPEN', open(path, 'w'))\n"
                      "  except OSError: pass\n"
                      "for path in ('tools/.env', 'b/c/.env'):\n"
                      "  try: print('OPEN', open(path).read())\n"
                      "  except OSError: pass\n"
                      "open('made', 'w')"});
  put_in_sandbox(spec);
  const std::string from = top_ / "out/home/ws/";
  spec.sandbox->protect = {from + "b/c/r.sh", from + "sub/way/cur/hook.sh", from + "a/h.sh", from + "b/c"};
  const auto result = run(spec);
  EXPECT_EQ(result.out.text() + result.err.text(), "");
  EXPECT_TRUE(fs::exists(top_ / "ws/made"));
  EXPECT_TRUE(fs::is_symlink(top_ / "ws/tools/cur"));
}

TEST_F(SandboxTest, ProtectedLinkAtTheTop_IsRefusedAndSaysWhatToName) {
  fs::create_symlink("team", top_ / "ws/way");
  auto spec = python({"-c", "open('ran', 'w')"});
  put_in_sandbox(spec);
  spec.sandbox->protect = {workspace() + "/way/b/run.sh"};
  const auto process = start_process(spec);
  ASSERT_FALSE(process);
  EXPECT_THAT(process.error().message, HasSubstr(workspace() + "/way/b/run.sh, which is protected or"));
  EXPECT_THAT(process.error().message, HasSubstr("name " + workspace() + "/team/b/run.sh instead"));
}

TEST_F(SandboxTest, LinkOnTheWayToAHiddenFile_Stays) {
  for (const char* name : {"ws/deep", "ws/keys/old"}) fs::create_directories(top_ / name);
  std::ofstream(top_ / "ws/keys/key") << kSecret;
  fs::create_directory_symlink("../keys/old", top_ / "ws/deep/way");
  auto spec =
      python({"-c",
              "import os\n"
              "for change in (lambda: os.rename('deep/way', 'gone'), lambda: os.unlink('deep/way'),\n"
              "               lambda: os.rename('deep', 'gone'), lambda: os.rename('keys', 'gone'),\n"
              "               lambda: os.rename('keys/old', 'gone'), lambda: open('keys/key').read()):\n"
              "  try: print('OPEN', change())\n"
              "  except OSError: pass\n"
              "open('made', 'w')"});
  put_in_sandbox(spec);
  spec.sandbox->hide = {workspace() + "/deep/way/../key"};
  const auto result = run(spec);
  EXPECT_EQ(result.out.text() + result.err.text(), "");
  EXPECT_TRUE(fs::exists(top_ / "ws/made"));

  fs::create_directory_symlink("keys", top_ / "ws/way");
  spec.sandbox->hide = {workspace() + "/way/key"};
  const auto refused = start_process(spec);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("name " + workspace() + "/keys/key instead"));
}

TEST_F(SandboxTest, HiddenFilesAndFolders_AreEmptyAndStayThere) {
  fs::create_directories(top_ / "ws/runs/old");
  std::ofstream(top_ / "ws/runs/old/journal") << kSecret;
  std::ofstream(top_ / "ws/team/journal") << kSecret;
  std::ofstream(top_ / "out/journal") << kSecret;
  auto spec = python({"-c",
                      "import os, sys\n"
                      "print(os.listdir('runs'))\n"
                      "for path in ('team/journal', sys.argv[1]):\n"
                      "  try: print('OPEN', open(path).read())\n"
                      "  except OSError: pass\n"
                      "for way in (lambda: open('runs/made', 'w'), lambda: os.rename('runs', 'gone'),\n"
                      "            lambda: os.unlink('team/journal'), lambda: os.rename('team', 'gone')):\n"
                      "  try: print('OPEN', way())\n"
                      "  except OSError: pass\n",
                      top_ / "out/journal"});
  put_in_sandbox(spec);
  spec.sandbox->readable = {top_ / "out"};
  spec.sandbox->hide = {workspace() + "/runs", workspace() + "/team/journal", top_ / "out/journal",
                        workspace() + "/nothing"};
  const auto result = run(spec);
  EXPECT_EQ(result.out.text(), "[]\n") << result.err.text();
}

TEST_F(SandboxTest, ProtectedNameThatIsGranted_IsOpen) {
  std::ofstream(top_ / "ws/.gitlab-ci.yml") << "old";
  auto spec = python({"-c",
                      "open('.vscode/tasks.json', 'w')\n"
                      "open('.git/hooks/made', 'w')\n"
                      "open('.gitlab-ci.yml', 'w').write('new')\n"
                      "for name in ('.git/config', '.mcp.json', 'conf/agent.toml', 'Jenkinsfile'):\n"
                      "  try: print('OPEN', open(name, 'w'))\n"
                      "  except OSError: pass\n"});
  put_in_sandbox(spec);
  for (const char* name : {"/.vscode", "/.git/hooks", "/.gitlab-ci.yml"})
    spec.sandbox->writable.push_back(workspace() + name);
  const auto result = run(spec);
  EXPECT_EQ(result.out.text() + result.err.text(), "");
  EXPECT_TRUE(fs::exists(top_ / "ws/.vscode/tasks.json"));
  EXPECT_TRUE(fs::exists(top_ / "ws/.git/hooks/made"));
  EXPECT_EQ(fs::file_size(top_ / "ws/.gitlab-ci.yml"), 3U);

  spec.sandbox->writable.push_back(workspace() + "/conf/agent.toml");
  const auto refused = start_process(spec);
  ASSERT_FALSE(refused) << "what the caller protects is not opened by its name";
  EXPECT_THAT(refused.error().message,
              HasSubstr("conf/agent.toml is protected and granted. The configuration"));
  spec.sandbox->writable = {workspace() + "/conf/agent.toml"};
  EXPECT_FALSE(start_process(spec)) << "also without the folder that holds it";
}

TEST_F(SandboxTest, GrantedFolderBehindALink_IsRefused) {
  struct LinkCase {
    const char* about;
    std::function<void(Sandbox&)> grant;
  };
  fs::create_directories(top_ / "ws/grant");
  fs::create_directories(top_ / "out/inner");
  fs::remove(top_ / "ws/grant");
  fs::create_symlink(top_ / "out", top_ / "ws/grant");
  const std::vector<LinkCase> cases{
      {"below a writable folder",
       [&](Sandbox& box) { box.writable.push_back(workspace() + "/grant/inner"); }},
      {"readable", [&](Sandbox& box) { box.readable.push_back(workspace() + "/grant/secret"); }},
      {"the folder itself", [&](Sandbox& box) { box.readable.push_back(workspace() + "/grant"); }},
      {"below a folder of the caller", [&](Sandbox& box) {
         box.writable = {workspace() + "/grant/inner"};
         box.no_links_below = {workspace()};
       }}};
  for (const LinkCase& one : cases) {
    auto spec = python({"-c", "open('ran', 'w')"});
    put_in_sandbox(spec);
    one.grant(*spec.sandbox);
    const auto process = start_process(spec);
    ASSERT_FALSE(process) << one.about;
    EXPECT_THAT(process.error().message, HasSubstr("goes through a symbolic link")) << one.about;
  }
}

// Another program exchanges a checkout, or the folder above it, with a link while sandboxes are built.
TEST_F(SandboxTest, FoldersExchangedWhileItIsBuilt_NeverLeadOutside) {
  constexpr int kBuilt = 150;
  fs::permissions(top_, fs::perms(0755));  // so that the user of the sandbox can get there
  for (const std::string victim : {"team/a/.git", "team/a"}) {
    fresh();
    fs::create_directories(top_ / "out/.git");
    std::ofstream(top_ / "out/config") << kSecret;
    std::ofstream(top_ / "out/.git/config") << kSecret;
    fs::permissions(top_ / "out", fs::perms::all);
    const fs::path link = top_ / "ws/elsewhere";
    fs::create_symlink(top_ / "out", link);
    std::jthread swapping([&](const std::stop_token& stop) {
      while (!stop.stop_requested())
        renameat2(AT_FDCWD, link.c_str(), AT_FDCWD, (workspace() + "/" + victim).c_str(), RENAME_EXCHANGE);
    });
    std::atomic<int> ran = 0;
    const auto build = [&] {
      auto spec = python({"-c",
                          "import os, sys\n"
                          "for path in sys.argv[1:]:\n"
                          "  for name in ('config', '.git/config'):\n"
                          "    try: print(open(path + '/' + name).read())\n"
                          "    except OSError: pass\n"
                          "  try: open(path + '/evil', 'w')\n"
                          "  except OSError: pass\n"
                          "print('ran')",
                          victim, "elsewhere", "team/a"});
      put_in_sandbox(spec);
      auto process = start_process(spec);
      if (!process) return;
      const auto result = process->wait({});
      ASSERT_TRUE(result);
      EXPECT_THAT(result->out.text(), Not(HasSubstr(kSecret))) << victim;
      ran += result->out.text().ends_with("ran\n") ? 1 : 0;
    };
    std::vector<std::jthread> builders;
    for (int i = 0; i < 3; ++i) {
      builders.emplace_back([&] {
        for (int round = 0; round < kBuilt / 3; ++round) build();
      });
    }
    builders.clear();
    EXPECT_FALSE(fs::exists(top_ / "out/evil")) << victim;
    std::cout << victim << ": " << ran << " of " << kBuilt << " sandboxes were built\n";
  }
}

}  // namespace
}  // namespace praxis::testing
