// Attachments: the type is detected from the bytes, the size is bounded, errors name the file.
#include "praxis/tools/media.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace praxis {
namespace {

using ::testing::HasSubstr;

const std::string kPng = "\x89PNG\r\n\x1a\n pixels";

class MediaTest : public ::testing::Test {
 protected:
  MediaTest() { std::filesystem::create_directory(folder_); }
  ~MediaTest() override { std::filesystem::remove_all(folder_); }

  std::string file(const std::string& name, const std::string& bytes) const {
    const auto path = folder_ / name;
    std::ofstream(path, std::ios::binary) << bytes;
    return path.string();
  }

  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("praxis-media-" + std::to_string(getpid()));
};

TEST(MediaType, FirstBytes_DetermineTheType) {
  EXPECT_EQ(media_type(kPng), "image/png");
  EXPECT_EQ(media_type("\xff\xd8\xff\xe0 JFIF"), "image/jpeg");
  EXPECT_EQ(media_type("GIF89a..."), "image/gif");
  EXPECT_EQ(media_type(std::string_view("RIFF\x10\0\0\0WEBPVP8 ", 16)), "image/webp");
  EXPECT_EQ(media_type("%PDF-1.7"), "application/pdf");
  EXPECT_EQ(media_type("RIFF....WAVE"), "");
  EXPECT_EQ(media_type("plain"), "");
  EXPECT_EQ(media_type(""), "");
}

TEST_F(MediaTest, Attachment_IsAnImageAPdfOrText) {
  const auto image = attachment(file("picture.txt", kPng));  // the name is irrelevant
  ASSERT_TRUE(image) << image.error().message;
  EXPECT_EQ(std::get<ImagePart>(*image).source.mime, "image/png");
  EXPECT_EQ(std::get<ImagePart>(*image).source.data, kPng);
  const auto pdf = attachment(file("paper.pdf", "%PDF-1.7 words"));
  ASSERT_TRUE(pdf) << pdf.error().message;
  EXPECT_EQ(std::get<FilePart>(*pdf).name, "paper.pdf");
  EXPECT_EQ(std::get<FilePart>(*pdf).source.mime, "application/pdf");
  const auto text = attachment(file("notes.md", "# Grüße\n"));
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_EQ(std::get<TextPart>(*text).text, "File \"notes.md\":\n# Grüße\n");
}

TEST(Media, Url_IsPassedOn) {
  const auto image = attachment("https://example.com/a/Cat.JPG?size=large");
  ASSERT_TRUE(image);
  EXPECT_EQ(std::get<ImagePart>(*image).source.mime, "image/jpeg");
  EXPECT_EQ(std::get<ImagePart>(*image).source.url, "https://example.com/a/Cat.JPG?size=large");
  const auto pdf = attachment("http://example.com/paper.pdf");
  ASSERT_TRUE(pdf);
  EXPECT_EQ(std::get<FilePart>(*pdf).name, "paper.pdf");
  const auto unknown = attachment("https://example.com/picture");
  ASSERT_TRUE(unknown);
  EXPECT_EQ(std::get<ImagePart>(*unknown).source.mime, "");
}

TEST_F(MediaTest, UnsupportedFile_IsReported) {
  const auto refusal = [](const auto& result) {
    EXPECT_FALSE(result);
    return result ? std::string() : result.error().message;
  };
  EXPECT_THAT(refusal(attachment("no/such.png")), HasSubstr("\"no/such.png\": No such file"));
  EXPECT_THAT(refusal(attachment(folder_.string())), HasSubstr("not a regular file"));
  EXPECT_THAT(refusal(attachment(file("core", std::string("\0\1\2", 3)))),
              HasSubstr("neither a PDF nor UTF-8 text"));
  EXPECT_THAT(refusal(image_file(file("a.png", "text"))), HasSubstr("PNG, JPEG, GIF or WebP"));
  EXPECT_THAT(refusal(file_part(file("b.pdf", kPng))), HasSubstr("neither a PDF nor UTF-8 text"));
  EXPECT_THAT(refusal(image_of(kPng + std::string(kMaxImageBytes, 'x'), "big.png")), HasSubstr("20 MiB"));
  const auto huge = file("huge", "");
  std::filesystem::resize_file(huge, kMaxFileBytes + 1);
  EXPECT_THAT(refusal(attachment(huge)), HasSubstr("32 MiB"));
}

}  // namespace
}  // namespace praxis
