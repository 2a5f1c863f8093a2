#include "app/restate_probe.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "net/http_server.hpp"
#include "praxis/base/executor.hpp"

namespace praxis::app {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Answers as Restate does, ingress and admin API at one address.
class RestateProbe : public ::testing::Test {
 protected:
  RestateProbe() {
    auto started =
        HttpServer::start(executor_, {}, [this](const ReceivedRequest& request, const HttpReply& reply) {
          const auto found = answers_.find(request.target);
          reply.send(found == answers_.end() ? HttpAnswer{404, {}, ""} : HttpAnswer{200, {}, found->second});
        });
    EXPECT_TRUE(started);
    if (started) http_ = *std::move(started);
  }

  std::string url() const { return "http://127.0.0.1:" + std::to_string(http_->port()); }
  /// What is found, one line each.
  std::vector<std::string> examine(const std::string& reached_at = "http://here:9080/") {
    std::vector<std::string> lines;
    for (const Finding& finding : examine_restate({url() + "/", url(), reached_at}))
      lines.push_back(finding.name + ' ' + std::string(to_string(finding.health)) + ' ' + finding.detail);
    return lines;
  }

  const std::shared_ptr<Executor> executor_ = make_executor();
  std::map<std::string, std::string> answers_{
      {"/restate/health", R"({"services":["praxis"]})"},
      {"/version", R"({"version":"1.7.12","min_admin_api_version":2,"max_admin_api_version":4})"},
      {"/deployments",
       R"({"deployments":[{"id":"dp_1","uri":"http://here:9080/restate/1/","services":[{"name":"praxis"}]}]})"}};
  std::unique_ptr<HttpServer> http_;
};

TEST_F(RestateProbe, NamesWhatWorks) {
  EXPECT_THAT(
      examine(),
      ElementsAre("engine ingress ok " + url() + " answers", "engine admin ok " + url() + " answers",
                  "engine version ok Restate 1.7.12", "engine registration ok http://here:9080/restate/1"));
}

TEST_F(RestateProbe, NamesWhereTheTurnsGoInstead) {
  EXPECT_THAT(examine("http://there:9080").back(),
              HasSubstr("missing http://there:9080/restate/1 is not registered, but "
                        "http://here:9080/restate/1 is; praxis serve --engine restate registers itself"));
  answers_["/deployments"] =
      R"({"deployments":[{"uri":"http://here:9080/restate/1","services":[{"name":"other"}]}]})";
  EXPECT_THAT(examine().back(), HasSubstr("missing http://here:9080/restate/1 is not registered; praxis"));
}

TEST_F(RestateProbe, JudgesVersions) {
  const std::map<std::string, std::string> verdicts{
      {"1.6.0", "ok"},      {"1.10.2", "ok"},   {"1.5.9", "failed"}, {"0.9.0", "failed"},
      {"2.0.0", "missing"}, {"none", "failed"}, {"", "failed"}};
  for (const auto& [version, verdict] : verdicts) {
    answers_["/version"] = R"({"version":")" + version + R"("})";
    EXPECT_THAT(examine().at(2), HasSubstr("engine version " + verdict)) << version;
  }
}

TEST_F(RestateProbe, AnotherServerIsNoRestate) {
  answers_.clear();
  EXPECT_THAT(examine(),
              ElementsAre(HasSubstr(" failed " + url() + "/restate/health answers 404; is Restate there?"),
                          HasSubstr(" failed " + url() + "/version answers 404; is Restate there?")));
}

TEST(RestateProbeNowhere, NamesTheOptions) {
  const auto findings = examine_restate({"http://127.0.0.1:1", "http://127.0.0.1:1", "http://here"});
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_THAT(findings[0].detail, HasSubstr("start it, or give its address: --engine-ingress URL"));
  EXPECT_THAT(findings[1].detail, HasSubstr("start it, or give its address: --engine-admin URL"));
}

}  // namespace
}  // namespace praxis::app
