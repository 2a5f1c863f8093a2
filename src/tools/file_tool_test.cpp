#include "praxis/tools/file_tool.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <zlib.h>

#include <atomic>
#include <thread>

#include "tools/file_roots.hpp"
#include "tools/testing/call.hpp"

namespace praxis {
namespace {

std::string gzip(std::string_view text) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

/// A root, and a secret file outside of it.
class FileToolTest : public ::testing::Test {
 protected:
  FileToolTest() {
    scratch_.write("root/notes/a.txt", "one\ntwo\nthree\n");
    scratch_.write("root-evil/secret.txt", "SECRET");
    scratch_.write("secret.txt", "SECRET");
  }
  std::string root(std::string_view below = "") const { return scratch_.str("root" + std::string(below)); }
  std::string read(std::string_view path) const {
    return text_of(call_with(read_, {{"op", "read"}, {"path", path}}));
  }
  std::string write(std::string_view path, std::string_view content) const {
    return text_of(call_with(write_, {{"path", path}, {"content", content}}));
  }
  void link(const std::string& target, const std::string& name) const {
    std::filesystem::create_symlink(target, root("/" + name));
  }

  ScratchFolder scratch_;
  const Tool read_ = file_read_tool({root()});
  const Tool write_ = file_write_tool({root()});
};

TEST_F(FileToolTest, Read_AcceptsRelativeAndAbsolutePaths) {
  EXPECT_EQ(read("notes/a.txt"), "one\ntwo\nthree\n");
  EXPECT_EQ(read("./notes/../notes//a.txt"), "one\ntwo\nthree\n");
  EXPECT_EQ(read(root("/notes/a.txt")), "one\ntwo\nthree\n");
  EXPECT_EQ(read("notes/b.txt"), R"(error: "notes/b.txt" does not exist)");
  EXPECT_EQ(read("notes"), R"(error: "notes" is a folder; list it instead)");
}

TEST_F(FileToolTest, Read_ShowsImagesAndPdfs) {
  const std::string png = std::string("\x89PNG\r\n\x1a\n\0", 9) + std::string(300'000, 'p');
  scratch_.write("root/photo.txt", png);
  scratch_.write("root/paper.pdf", "%PDF-1.7 words");
  const auto image = call_with(read_, {{"op", "read"}, {"path", "photo.txt"}});
  ASSERT_TRUE(image) << image.error().message;
  ASSERT_EQ(image->images.size(), 1U);
  EXPECT_EQ(image->images[0].source.mime, "image/png");
  EXPECT_EQ(image->images[0].source.data, png) << "all of it, regardless of the limit for text";
  EXPECT_EQ(image->text, R"("photo.txt" is image/png of 300009 bytes)");
  const auto pdf = call_with(read_, {{"op", "read"}, {"path", "paper.pdf"}});
  ASSERT_TRUE(pdf) << pdf.error().message;
  ASSERT_EQ(pdf->files.size(), 1U);
  EXPECT_EQ(pdf->files[0].name, "paper.pdf");
}

TEST_F(FileToolTest, PathsOutsideOfTheRoots_AreRefusedByPolicy) {
  for (const std::string& path :
       {std::string("../secret.txt"), std::string("notes/../../secret.txt"), std::string("/etc/passwd"),
        scratch_.str("secret.txt"), scratch_.str("root-evil/secret.txt"), root("/../secret.txt"),
        std::string("/"), std::string("..")}) {
    auto result = call_with(read_, {{"op", "read"}, {"path", path}});
    ASSERT_FALSE(result) << path;
    EXPECT_EQ(result.error().code, ErrorCode::kPolicy) << result.error().message;
    EXPECT_FALSE(call_with(write_, {{"path", path + "/x"}, {"content", "y"}})) << path;
  }
  EXPECT_EQ(scratch_.read("secret.txt"), "SECRET");
  EXPECT_NE(text_of(call(file_read_tool({}), R"({"op":"list"})")).find("was given no folders"),
            std::string::npos);
}

TEST_F(FileToolTest, UnusablePaths_AreInputErrors) {
  for (const Json& path :
       {Json(""), Json(std::string("notes/a.txt\0.png", 16)), Json(std::string(5000, 'a'))}) {
    EXPECT_EQ(call_with(read_, {{"op", "read"}, {"path", path}}).error().code, ErrorCode::kInput);
    EXPECT_EQ(call_with(write_, {{"path", path}, {"content", ""}}).error().code, ErrorCode::kInput);
  }
  EXPECT_FALSE(call_with(write_, {{"path", "notes/"}, {"content", ""}}));
  EXPECT_FALSE(call_with(write_, {{"path", "."}, {"content", ""}}));
}

TEST_F(FileToolTest, SymbolicLinks_AreNeverFollowed) {
  link(scratch_.str("secret.txt"), "out");
  link("../secret.txt", "relative");
  link(scratch_.str(), "folder");
  link("notes/a.txt", "inside");
  for (std::string_view path : {"out", "relative", "folder/secret.txt", "inside"}) {
    EXPECT_NE(read(path).find("symbolic link"), std::string::npos) << read(path);
    EXPECT_TRUE(write(path, "overwritten").starts_with("error: ")) << path;
  }
  EXPECT_TRUE(write("folder/new.txt", "x").starts_with("error: "));
  EXPECT_EQ(scratch_.read("secret.txt"), "SECRET");
  EXPECT_FALSE(std::filesystem::exists(scratch_.str("new.txt")));
  EXPECT_EQ(text_of(call(read_, R"({"op":"search","pattern":"SECRET"})")), "no line matches");
}

TEST_F(FileToolTest, MagicLinks_AreNeverFollowed) {
  const Tool proc = file_read_tool({"/proc/self"});
  for (std::string_view path : {"root/etc/passwd", "cwd/x", "exe", "fd/0"}) {
    EXPECT_FALSE(call_with(proc, {{"op", "read"}, {"path", path}})) << path;
  }
  EXPECT_TRUE(call(proc, R"({"op":"read","path":"status"})"));
}

TEST_F(FileToolTest, DevicesPipesAndSockets_AreRefusedWithoutWaiting) {
  ASSERT_EQ(mkfifo(root("/pipe").c_str(), 0600), 0);
  const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  root("/socket").copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  close(fd);
  EXPECT_NE(read("pipe").find("device, pipe or socket"), std::string::npos) << read("pipe");
  EXPECT_TRUE(read("socket").starts_with("error: "));
  EXPECT_TRUE(write("pipe", "x").starts_with("error: "));
  EXPECT_EQ(text_of(call(read_, R"({"op":"search","pattern":"x"})")), "no line matches");
  for (std::string_view device : {"zero", "tty", "null"}) {
    EXPECT_FALSE(call_with(file_read_tool({"/dev"}), {{"op", "read"}, {"path", device}})) << device;
  }
}

TEST_F(FileToolTest, SwappingAFolderForALink_NeverLeadsOutside) {
  scratch_.write("root/swap/secret.txt", "inside");
  link(scratch_.str(), "link");
  std::atomic<bool> done = false;
  std::jthread swapper([&] {
    while (!done)
      renameat2(AT_FDCWD, root("/swap").c_str(), AT_FDCWD, root("/link").c_str(), RENAME_EXCHANGE);
  });
  int read_inside = 0;
  for (int i = 0; i < 500; ++i) {
    const std::string text = read("swap/secret.txt");
    EXPECT_EQ(text.find("SECRET"), std::string::npos);
    read_inside += text == "inside";
    static_cast<void>(write("swap/new/file.txt", "x"));
  }
  done = true;
  EXPECT_GT(read_inside, 0);
  EXPECT_FALSE(std::filesystem::exists(scratch_.str("new")));
}

TEST_F(FileToolTest, RootThatBecomesALink_IsRefused) {
  ASSERT_EQ(read("notes/a.txt"), "one\ntwo\nthree\n");
  const Tool below =
      file_read_tool({root("/notes")}, {.no_links_below = {root()}, .protect = {}, .hide = {}});
  EXPECT_EQ(text_of(call_with(below, {{"op", "read"}, {"path", "a.txt"}})), "one\ntwo\nthree\n");
  scratch_.write("outside/a.txt", "SECRET");
  std::filesystem::rename(root("/notes"), root("/old"));
  link(scratch_.str("outside"), "notes");
  const std::string text = text_of(call_with(below, {{"op", "read"}, {"path", "a.txt"}}));
  EXPECT_NE(text.find("goes through a symbolic link"), std::string::npos) << text;
  const Tool write =
      file_write_tool({root("/notes")}, {.no_links_below = {root()}, .protect = {}, .hide = {}});
  static_cast<void>(call_with(write, {{"path", "new.txt"}, {"content", "x"}}));
  EXPECT_FALSE(std::filesystem::exists(scratch_.str("outside/new.txt")));
}

TEST_F(FileToolTest, RootThatBecomesAnotherFolder_IsRefused) {
  ASSERT_EQ(read("notes/a.txt"), "one\ntwo\nthree\n");
  std::filesystem::rename(root(), scratch_.str("old"));
  scratch_.write("root/notes/a.txt", "another");
  const std::string text = read("notes/a.txt");
  EXPECT_NE(text.find("is no longer the folder"), std::string::npos) << text;
}

TEST_F(FileToolTest, ProtectedFiles_AreNotWrittenAndSecretsNotRead) {
  scratch_.write("root/.env", "KEY=SECRET");
  scratch_.write("root/deep/.env.local", "KEY=SECRET");
  scratch_.write("root/.venv/ok.txt", "fine");
  for (const char* path : {".git/config",
                           ".git/hooks/pre-commit",
                           ".praxis/config.toml",
                           ".mcp.json",
                           ".bashrc",
                           ".hg/hgrc",
                           ".github/workflows/ci.yml",
                           ".gitlab-ci.yml",
                           "Jenkinsfile",
                           ".husky/pre-commit",
                           ".claude/settings.json",
                           ".npmrc",
                           ".ssh/authorized_keys",
                           ".config/fish/config.fish",
                           ".vscode/tasks.json",
                           "deep/checkout/.git/config",
                           "deep/.praxis/agents/x.toml",
                           ".env",
                           "deep/.env.local",
                           "notes/../.git/config"}) {
    const std::string text = write(path, "x");
    EXPECT_NE(text.find("no tool"), std::string::npos) << path << ": " << text;
  }
  for (const char* path : {".env", "deep/.env.local"}) {
    const std::string text = read(path);
    EXPECT_NE(text.find("no tool reads"), std::string::npos) << path << ": " << text;
  }
  EXPECT_EQ(text_of(call_with(read_, {{"op", "search"}, {"pattern", "SECRET"}})).find("KEY"),
            std::string::npos);
  EXPECT_EQ(read(".venv/ok.txt"), "fine");
  for (const char* path : {".gitignore", "deep/.bashrc", "notes/env", "deep/Jenkinsfile"}) {
    const std::string text = write(path, "x");
    EXPECT_NE(text.find("wrote"), std::string::npos) << path << ": " << text;
  }
  scratch_.write("root/.git/hooks/sample", "");
  const Tool hooks = file_write_tool({root("/.git/hooks")});
  EXPECT_NE(text_of(call_with(hooks, {{"path", "pre-commit"}, {"content", "x"}})).find("wrote"),
            std::string::npos)
      << "a folder that was given by name";
}

TEST_F(FileToolTest, FileGivenByName_IsOpenWhileItsNeighboursStayProtected) {
  scratch_.write("root/.gitlab-ci.yml", "old");
  scratch_.write("root/.env", "KEY=1");
  scratch_.write("root/agent.toml", "id = 'a'");
  FileBounds bounds;
  bounds.protect = {root("/agent.toml")};
  const std::vector<std::string> given{root("/.gitlab-ci.yml"), root("/.env"), root("/agent.toml")};
  const Tool writes = file_write_tool(given, bounds), reads = file_read_tool(given, bounds);
  const auto written = [&](const std::string& path) {
    return text_of(call_with(writes, {{"path", path}, {"content", "new"}}));
  };
  for (const std::string& path : {std::string(".gitlab-ci.yml"), root("/.gitlab-ci.yml"), root("/.env")})
    EXPECT_NE(written(path).find("wrote"), std::string::npos) << path << written(path);
  EXPECT_EQ(text_of(call_with(reads, {{"op", "read"}, {"path", ".gitlab-ci.yml"}})), "new");
  for (const std::string& path : {root("/.travis.yml"), root("/notes"), std::string(".git/config")})
    EXPECT_EQ(written(path).find("wrote"), std::string::npos) << path;
  EXPECT_NE(written("agent.toml").find("no tool"), std::string::npos) << "an agent file is never written";
}

TEST_F(FileToolTest, FilesOfTheCaller_AreProtectedAndHidden) {
  scratch_.write("root/agent.toml", "id = 'a'");
  scratch_.write("root/runs/journal.db", "SECRET");
  FileBounds bounds;
  bounds.protect = {root("/agent.toml"), root("/later")};
  bounds.hide = {root("/runs")};
  const Tool reads = file_read_tool({root()}, bounds), writes = file_write_tool({root()}, bounds);
  EXPECT_EQ(text_of(call_with(reads, {{"op", "read"}, {"path", "agent.toml"}})), "id = 'a'");
  for (const char* path : {"agent.toml", "later/new.txt", "runs/journal.db", "notes/../agent.toml"}) {
    const std::string text = text_of(call_with(writes, {{"path", path}, {"content", "x"}}));
    EXPECT_NE(text.find("no tool"), std::string::npos) << path << ": " << text;
  }
  EXPECT_NE(text_of(call_with(reads, {{"op", "read"}, {"path", "runs/journal.db"}})).find("no tool reads"),
            std::string::npos);
  EXPECT_EQ(text_of(call_with(reads, {{"op", "search"}, {"pattern", "SECRET"}})).find("journal.db:"),
            std::string::npos);
}

TEST_F(FileToolTest, LinksAboveTheFoldersOfTheCaller_AreFollowed) {
  std::filesystem::create_symlink(root(), scratch_.str("way"));
  const Tool tool = file_read_tool({scratch_.str("way/notes")},
                                   {.no_links_below = {scratch_.str("way")}, .protect = {}, .hide = {}});
  EXPECT_EQ(text_of(call_with(tool, {{"op", "read"}, {"path", "a.txt"}})), "one\ntwo\nthree\n");
  std::filesystem::create_symlink("notes", root("/inside"));
  const Tool link =
      file_read_tool({scratch_.str("way/inside")}, {.no_links_below = {root()}, .protect = {}, .hide = {}});
  EXPECT_NE(text_of(call_with(link, {{"op", "read"}, {"path", "a.txt"}})).find("symbolic link"),
            std::string::npos)
      << "the folder is found by any of its names";
}

TEST_F(FileToolTest, OpenBySteps_RefusesWhatTheKernelRefuses) {
  link(scratch_.str(), "folder");
  link("notes/a.txt", "inside");
  const FileDescriptor folder(open(root().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  for (std::string_view path : {"notes/a.txt", "./notes//a.txt", "."}) {
    EXPECT_TRUE(open_beneath_by_steps(folder.get(), std::string(path), O_RDONLY)) << path;
    EXPECT_TRUE(open_beneath(folder.get(), std::string(path), O_RDONLY)) << path;
  }
  for (std::string_view path : {"folder/secret.txt", "inside", "../secret.txt", "notes/../../secret.txt",
                                "/etc/passwd", "gone", "notes/a.txt/x"}) {
    EXPECT_FALSE(open_beneath_by_steps(folder.get(), std::string(path), O_RDONLY)) << path;
    EXPECT_FALSE(open_beneath(folder.get(), std::string(path), O_RDONLY)) << path;
  }
}

TEST_F(FileToolTest, LongFiles_AreReadInChunksWithoutLoss) {
  std::string text;
  for (int i = 0; i < 5000; ++i) text += "line " + std::to_string(i) + " \xC3\xA9\xE2\x82\xAC\n";
  scratch_.write("root/long.txt", text);
  scratch_.write("root/long.txt.gz", gzip(text.substr(0, 30'000)) + gzip(text.substr(30'000)));
  for (std::string_view path : {"long.txt", "long.txt.gz"}) {
    std::string joined;
    for (std::int64_t left = 1; left > 0;) {
      auto piece =
          call_with(read_, {{"op", "read"}, {"path", path}, {"offset", joined.size()}, {"limit", 10'000}});
      ASSERT_TRUE(piece) << piece.error().message;
      left = json_int(piece->value, "bytes_left");
      joined += json_string(piece->value, "text");
      EXPECT_EQ(static_cast<std::size_t>(left), text.size() - joined.size());
      if (left == 0) break;
      EXPECT_TRUE(piece->text.ends_with(std::to_string(left) + " bytes follow; continue with \"offset\": " +
                                        std::to_string(joined.size()) + "]"))
          << piece->text.substr(piece->text.size() - 100);
    }
    EXPECT_EQ(joined, text) << path;
  }
  EXPECT_EQ(text_of(call(read_, R"({"op":"read","path":"long.txt","offset":99999999})")),
            "[the file ends before this offset]");
}

TEST_F(FileToolTest, LongLines_AreNotCutInsideACharacter) {
  std::string text;
  while (text.size() < 100) text += "\xE2\x82\xAC";
  scratch_.write("root/euro.txt", text);
  for (int limit = 5; limit < 9; ++limit) {
    auto piece = call_with(read_, {{"op", "read"}, {"path", "euro.txt"}, {"limit", limit}});
    EXPECT_EQ(json_string(piece->value, "text").find("\xEF\xBF\xBD"), std::string::npos) << limit;
    EXPECT_GT(json_string(piece->value, "text").size(), 0U);
  }
}

TEST_F(FileToolTest, GzipBomb_IsInflatedOnlyUpToTheBound) {
  const std::string mebibytes(96 * 1024 * 1024, 'a');
  scratch_.write("root/bomb.gz", gzip(mebibytes));
  auto result = call(read_, R"({"op":"read","path":"bomb.gz"})");
  ASSERT_TRUE(result);
  EXPECT_LT(result->text.size(), 70'000U);
  EXPECT_NE(result->text.find("[at least "), std::string::npos) << result->text.substr(65'000);
  EXPECT_EQ(json_int(result->value, "bytes_left"), 64 * 1024 * 1024 - 64 * 1024);
  EXPECT_FALSE(call(read_, R"({"op":"read","path":"bomb.gz","offset":90000000})"));
}

TEST_F(FileToolTest, CorruptGzip_IsAnErrorAndBinaryFilesAreReported) {
  scratch_.write("root/cut.gz", gzip("some text that is long enough").substr(0, 25));
  EXPECT_NE(read("cut.gz").find("corrupt gzip"), std::string::npos) << read("cut.gz");
  scratch_.write("root/image.png", std::string("\x89PNG\0\0\0\x0d", 8));
  EXPECT_EQ(read("image.png"), R"("image.png" is a binary file of 8 bytes; it is not shown)");
  scratch_.write("root/empty.txt", "");
  EXPECT_EQ(read("empty.txt"), "[the file is empty]");
}

TEST_F(FileToolTest, HugeFile_IsReadFromAnOffsetWithoutReadingItAll) {
  scratch_.write("root/huge", "");
  ASSERT_EQ(truncate(root("/huge").c_str(), std::int64_t{1} << 40), 0);
  scratch_.write("root/end", "");
  auto result = call_with(read_, {{"op", "read"}, {"path", "huge"}, {"offset", (std::int64_t{1} << 40) - 5}});
  EXPECT_EQ(text_of(result), R"("huge" is a binary file of 1099511627776 bytes; it is not shown)");
}

TEST_F(FileToolTest, SeveralRoots_AreTriedInTurn) {
  scratch_.write("second/b.txt", "B");
  scratch_.write("second/notes/a.txt", "hidden by the first root");
  const Tool both = file_read_tool({root(), scratch_.str("second/")});
  EXPECT_EQ(text_of(call(both, R"({"op":"read","path":"b.txt"})")), "B");
  EXPECT_EQ(text_of(call(both, R"({"op":"read","path":"notes/a.txt"})")), "one\ntwo\nthree\n");
  EXPECT_NE(both.definition.description.find(scratch_.str("second")), std::string::npos);
  EXPECT_FALSE(call(file_read_tool({scratch_.str("missing")}), R"({"op":"list"})"));
}

TEST_F(FileToolTest, List_ShowsEntriesByNameWithTheirKind) {
  link("notes", "link");
  scratch_.write("root/z.txt", "12345");
  EXPECT_EQ(text_of(call(read_, R"({"op":"list"})")), "link (link)\nnotes (folder)\nz.txt (5 bytes)\n");
  EXPECT_NE(text_of(call(read_, R"({"op":"list","path":"z.txt"})")).find("error"), std::string::npos);
}

TEST_F(FileToolTest, Search_FindsLinesBelowAFolderInOrderAndWithinLimits) {
  scratch_.write("root/b/deep/c.txt", "nothing\nthe Two\n");
  scratch_.write("root/.git/config", "two");
  scratch_.write("root/b.gz", gzip("two in gzip\n"));
  scratch_.write("root/binary", std::string("two\0", 4));
  EXPECT_EQ(text_of(call(read_, R"({"op":"search","pattern":"(?i)two"})")),
            "b/deep/c.txt:2: the Two\nb.gz:1: two in gzip\nnotes/a.txt:2: two\n");
  EXPECT_EQ(text_of(call(read_, R"({"op":"search","pattern":"two","path":"notes/a.txt"})")),
            "notes/a.txt:2: two\n");
  EXPECT_EQ(text_of(call(read_, R"({"op":"search","pattern":"t","limit":1})")),
            "b/deep/c.txt:1: nothing\n[stopped at 1 matches; there may be more]\n");
  EXPECT_NE(text_of(call(read_, R"({"op":"search","pattern":"("})")).find("/pattern is not a valid RE2"),
            std::string::npos);
  EXPECT_NE(text_of(call(read_, R"({"op":"search"})")).find("/pattern is missing"), std::string::npos);
}

TEST_F(FileToolTest, Search_StopsOnRequest) {
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(text_of(call(read_, R"({"op":"search","pattern":"two"})", stop.get_token())), "no line matches");
}

TEST_F(FileToolTest, WriteThatIsMadeAgain_HasTheSameResult) {
  const std::string arguments = R"({"path":"once.txt","content":"hello"})";
  const auto first = call(write_, arguments), again = call(write_, arguments);
  ASSERT_TRUE(first && again);
  EXPECT_EQ(again->text, first->text);
  EXPECT_EQ(again->value, first->value);
}

TEST_F(FileToolTest, Write_CreatesFoldersAndReplacesWholeFilesKeepingTheirMode) {
  EXPECT_EQ(write("new/deep/x.txt", "hello"), R"(wrote "new/deep/x.txt" (5 bytes))");
  EXPECT_EQ(scratch_.read("root/new/deep/x.txt"), "hello");
  ASSERT_EQ(chmod(root("/new/deep/x.txt").c_str(), 0751), 0);
  EXPECT_EQ(write(root("/new/deep/x.txt"), "hi"), "wrote \"" + root("/new/deep/x.txt") + "\" (2 bytes)");
  EXPECT_EQ(scratch_.read("root/new/deep/x.txt"), "hi");
  struct stat info{};
  ASSERT_EQ(stat(root("/new/deep/x.txt").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0751U);
  const auto entries = std::distance(std::filesystem::directory_iterator(root("/new/deep")), {});
  EXPECT_EQ(entries, 1) << "a draft was left behind";
  EXPECT_TRUE(write("notes", "x").starts_with("error: "));
  EXPECT_TRUE(write("notes/a.txt/x", "x").starts_with("error: "));
  EXPECT_FALSE(write_.definition.safe_by_default);
  EXPECT_TRUE(write_.definition.idempotent);
}

TEST_F(FileToolTest, Write_IsAtomicForReaders) {
  const std::string a(200'000, 'a');
  const std::string b(100'000, 'b');
  scratch_.write("root/file", a);
  std::atomic<bool> done = false;
  std::jthread writer([&] {
    for (int i = 0; i < 20; ++i) write("file", i % 2 == 0 ? b : a);
    done = true;
  });
  while (!done) {
    const std::string seen = scratch_.read("root/file");
    EXPECT_TRUE(seen == a || seen == b) << seen.size();
  }
}

}  // namespace
}  // namespace praxis
