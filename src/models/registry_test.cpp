#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <map>

#include "praxis/base/executor.hpp"
#include "praxis/models/model.hpp"
#include "praxis/net/http_client.hpp"

namespace praxis {
namespace {

using Settings = std::map<std::string, std::string>;

Result<std::shared_ptr<Model>> make(const std::string& name, const Settings& settings = {}) {
  const auto env = [settings](const std::string& key) {
    const auto found = settings.find(key);
    return found == settings.end() ? std::string() : found->second;
  };
  return make_model(name, {make_http_client(), make_executor(), env});
}

std::string error(const std::string& name, const Settings& settings = {}) {
  const auto made = make(name, settings);
  EXPECT_FALSE(made) << name;
  if (made) return "";
  EXPECT_EQ(made.error().code, ErrorCode::kInput);
  return made.error().message;
}

TEST(MakeModel, UnknownProvider_IsReportedWithTheNearest) {
  EXPECT_EQ(error("opnai:gpt-5"),
            "model \"opnai:gpt-5\": unknown provider \"opnai\"; did you mean \"openai\"?");
  EXPECT_EQ(error("zzz:x"),
            "model \"zzz:x\": unknown provider \"zzz\"; `praxis models --all` lists the known ones");
}

TEST(MakeModel, NameWithoutProvider_IsReportedWithTheFormat) {
  for (const auto* name : {"gpt-5", "openai:", ""}) {
    EXPECT_NE(error(name).find("PROVIDER:MODEL, such as openai:gpt-5"), std::string::npos) << name;
  }
}

TEST(MakeModel, MissingKey_IsReportedWithItsVariable) {
  EXPECT_NE(error("openai-chat:gpt-5").find("OPENAI_API_KEY"), std::string::npos);
  EXPECT_TRUE(make("openai-chat:gpt-5", {{"OPENAI_API_KEY", "k"}}));
  EXPECT_TRUE(make("openai-chat:gpt-5", {{"OPENAI_BASE_URL", "http://127.0.0.1:1/v1"}}))
      << "local servers need no key";
  EXPECT_EQ(make("openai-chat:gpt-5", {{"OPENAI_API_KEY", "k"}}).value()->name(), "openai-chat:gpt-5");
}

TEST(MakeModel, InvalidBaseUrl_IsReported) {
  EXPECT_TRUE(error("openai:x", {{"OPENAI_BASE_URL", "localhost:8080"}})
                  .starts_with("provider \"openai\": OPENAI_BASE_URL: "));
}

TEST(MakeModel, Catalogue_DeterminesCapabilitiesAndPrices) {
  const auto model = make("openai:gpt-5-mini", {{"OPENAI_API_KEY", "k"}}).value();
  EXPECT_EQ(model->capabilities().context_window, 400'000);
  EXPECT_TRUE(model->capabilities().images);
  EXPECT_EQ(model->price({.input = 1'000'000, .output = 1'000'000}), MicroUsd{2'250'000});
  EXPECT_EQ(make("vllm:own").value()->capabilities().context_window, 0);
}

TEST(MakeModel, ProviderWithoutHttpClient_IsReported) {
  const auto made =
      make_model("openai:gpt-5", {nullptr, make_executor(), [](const std::string&) { return ""; }});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().message,
            "model \"openai:gpt-5\" needs an HTTP client: link praxis::http or set RuntimeOptions::http");
}

TEST(MakeModel, Script_IsReadFromItsFile) {
  const std::string file = testing::TempDir() + "make_model_script.jsonl";
  std::ofstream(file) << R"({"text": "hi"})";
  const auto model = make("script:" + file);
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ((*model)->name(), "script:" + file);
  EXPECT_EQ(std::get<TextPart>(complete(**model, {})->parts[0]).text, "hi");
  std::remove(file.c_str());
}

TEST(MakeModel, MissingScript_IsReported) {
  EXPECT_EQ(error("script:/nonexistent/x.jsonl"),
            "cannot read the script \"/nonexistent/x.jsonl\": No such file or directory");
  EXPECT_EQ(error("script:/"), "cannot read the script \"/\": Is a directory");
}

}  // namespace
}  // namespace praxis
