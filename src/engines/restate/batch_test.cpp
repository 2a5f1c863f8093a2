#include "engines/restate/batch.hpp"

#include <gtest/gtest.h>

#include "praxis/base/digest.hpp"

namespace praxis::restate {
namespace {

Append example() {
  Append append;
  append.lease.session = SessionId("s");
  append.expected_seq = 7;
  append.entries = {{"kind", UnixMillis{1'700'000'000'000}, R"({"a":1})"}, {"other", UnixMillis{-1}, ""}};
  append.blobs = {{digest_of("bytes"), "bytes"}};
  append.row.status = "running";
  append.row.parent = SessionId("");
  append.answers = {{3, "done"}};
  return append;
}

TEST(RestateBatch, DecodesWhatItEncoded) {
  const auto appends = decode_batch(encode_batch({encode_append(example()), encode_append(example())}));
  ASSERT_TRUE(appends) << appends.error().message;
  ASSERT_EQ(appends->size(), 2U);
  const Append& append = appends->back();
  EXPECT_EQ(append.lease.session, SessionId("s"));
  EXPECT_EQ(append.expected_seq, 7U);
  ASSERT_EQ(append.entries.size(), 2U);
  EXPECT_EQ(append.entries[0].body, R"({"a":1})");
  EXPECT_EQ(append.entries[1].time, UnixMillis{-1});
  ASSERT_EQ(append.blobs.size(), 1U);
  EXPECT_EQ(append.blobs[0].digest, digest_of("bytes"));
  EXPECT_EQ(append.blobs[0].bytes, "bytes");
  EXPECT_EQ(append.row.status, "running");
  EXPECT_EQ(append.row.parent, SessionId(""));
  EXPECT_FALSE(append.row.title);
  ASSERT_EQ(append.answers.size(), 1U);
  EXPECT_EQ(append.answers[0].message, 3U);
  EXPECT_EQ(append.answers[0].outcome, "done");
}

TEST(RestateBatch, RefusesEveryChangedByte) {
  const std::string batch = encode_batch({encode_append(example())});
  for (std::size_t at = 0; at < batch.size(); ++at) {
    std::string changed = batch;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    const auto appends = decode_batch(changed);
    ASSERT_FALSE(appends) << at;
    EXPECT_EQ(appends.error().kind(), ErrorKind::kCorrupt);
  }
  for (std::size_t cut = 0; cut < batch.size(); ++cut) EXPECT_FALSE(decode_batch(batch.substr(0, cut)));
}

}  // namespace
}  // namespace praxis::restate
