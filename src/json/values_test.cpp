// The JSON form of errors, and references between URIs.
#include <gtest/gtest.h>

#include "json/uri_reference.hpp"
#include "praxis/json/json.hpp"

namespace praxis {
namespace {

TEST(Error, JsonFormRoundTripsWithItsCauses) {
  const auto root = std::make_shared<const Error>(make_error(ErrorCode::kLimit, "root"));
  Error error = make_error(ErrorCode::kModel, "outer", true).set("status", 503);
  error.cause = root;
  const Error back = error_from_json(to_json(error));
  EXPECT_EQ(to_json(back), to_json(error));
  EXPECT_EQ(back.code, ErrorCode::kModel);
  EXPECT_TRUE(back.retriable);
  ASSERT_TRUE(back.cause);
  EXPECT_EQ(back.cause->message, "root");
  EXPECT_FALSE(back.cause->cause);
}

TEST(UriReference, ResolvesTheExamplesOfRfc3986) {
  const std::pair<const char*, const char*> examples[] = {
      {"g:h", "g:h"},
      {"g", "http://a/b/c/g"},
      {"./g", "http://a/b/c/g"},
      {"g/", "http://a/b/c/g/"},
      {"/g", "http://a/g"},
      {"//g", "http://g"},
      {"?y", "http://a/b/c/d;p?y"},
      {"g?y", "http://a/b/c/g?y"},
      {"#s", "http://a/b/c/d;p?q#s"},
      {"g#s", "http://a/b/c/g#s"},
      {"", "http://a/b/c/d;p?q"},
      {".", "http://a/b/c/"},
      {"..", "http://a/b/"},
      {"../g", "http://a/b/g"},
      {"../..", "http://a/"},
      {"../../../g", "http://a/g"},
      {"g/./h", "http://a/b/c/g/h"},
      {"g/../h", "http://a/b/c/h"},
  };
  for (const auto& [reference, uri] : examples) EXPECT_EQ(resolve_uri("http://a/b/c/d;p?q", reference), uri);
  EXPECT_EQ(resolve_uri("urn:uuid:1", "#/a"), "urn:uuid:1#/a");
  EXPECT_EQ(percent_decode("a%25b%2f%zz%4"), "a%b/%zz%4");
  EXPECT_EQ(percent_encode("a-Z.0_~/\xc3\xa9 %"), "a-Z.0_~%2F%C3%A9%20%25");
  EXPECT_EQ(percent_encode("/a b", "/"), "/a%20b");
}

}  // namespace
}  // namespace praxis
