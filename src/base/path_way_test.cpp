#include "base/path_way.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

namespace praxis {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

namespace fs = std::filesystem;

class PathWayTest : public ::testing::Test {
 protected:
  PathWayTest()
      : top_(fs::canonical(fs::temp_directory_path()) / ("praxis_path_way_" + std::to_string(getpid()))) {
    for (const char* name : {"sub", "tools/v1", "deep"}) fs::create_directories(top_ / name);
  }
  ~PathWayTest() override { fs::remove_all(top_); }
  std::string at(const char* name) const { return top_ / name; }

  const fs::path top_;
};

TEST_F(PathWayTest, EachLinkIsNamedByItsOwnPlace) {
  fs::create_symlink("../tools", top_ / "sub/way");
  fs::create_symlink("v1", top_ / "tools/cur");
  const PathWay way = way_of(at("sub/./way/cur/hook.sh"));
  EXPECT_THAT(way.links, ElementsAre(at("sub/way"), at("tools/cur")));
  EXPECT_EQ(way.end, at("tools/v1/hook.sh"));
  EXPECT_THAT(way.folders, ElementsAre(at("sub")));
}

TEST_F(PathWayTest, ChainOfLinksAtTheEnd) {
  fs::create_symlink("../deep/m", top_ / "sub/h");
  fs::create_symlink(at("tools/r"), top_ / "deep/m");
  const PathWay way = way_of(at("sub/h"));
  EXPECT_THAT(way.links, ElementsAre(at("sub/h"), at("deep/m")));
  EXPECT_EQ(way.end, at("tools/r"));
}

TEST_F(PathWayTest, WithoutLinks) {
  const PathWay way = way_of(at("none/x/"));
  EXPECT_THAT(way.links, IsEmpty());
  EXPECT_THAT(way.folders, IsEmpty());
  EXPECT_EQ(way.end, at("none/x"));
  EXPECT_EQ(way_of("/..").end, "/");
}

TEST_F(PathWayTest, WaysOfManyPaths_AreThoseOfEach) {
  fs::create_symlink("../tools", top_ / "sub/way");
  fs::create_symlink("../deep/m", top_ / "tools/r");
  const std::vector<std::string> paths{at("sub/way/a"),
                                       at("sub/way/r"),
                                       at("sub/way/.."),
                                       at("sub/way/"),
                                       at("sub/way"),
                                       at("none/x/../y"),
                                       "/",
                                       at("sub/way/../a")};
  const std::vector<PathWay> ways = ways_of(paths);
  ASSERT_EQ(ways.size(), paths.size());
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const PathWay way = way_of(paths[i]);
    EXPECT_EQ(ways[i].links, way.links) << paths[i];
    EXPECT_EQ(ways[i].folders, way.folders) << paths[i];
    EXPECT_EQ(ways[i].end, way.end) << paths[i];
  }
  EXPECT_EQ(ways[1].end, at("deep/m"));
}

TEST_F(PathWayTest, CircleEnds) {
  fs::create_symlink("b", top_ / "a");
  fs::create_symlink("a", top_ / "b");
  EXPECT_THAT(way_of(at("a")).links, SizeIs(40));
}

}  // namespace
}  // namespace praxis
