#include "app/restate_probe.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <optional>
#include <string_view>
#include <utility>

#include "engines/restate/service.hpp"
#include "praxis/json/json.hpp"
#include "praxis/net/http_client.hpp"

namespace praxis::app {
namespace {

std::string without_end(std::string url) {
  while (url.ends_with('/')) url.pop_back();
  return url;
}

/// The body of a good answer. The error says what happens instead.
Result<std::string> ask_restate(HttpClient& client, const std::string& url) {
  constexpr std::chrono::seconds kRestatePatience{5};
  HttpRequest request;
  request.url = url;
  request.timeouts = {.connect = kRestatePatience,
                      .first_byte = kRestatePatience,
                      .idle = kRestatePatience,
                      .total = kRestatePatience};
  request.use_proxy = false;
  auto answer = http_fetch(client, std::move(request));
  if (!answer) return fail(ErrorCode::kInput, url + " cannot be reached: " + answer.error().message);
  if (answer->status / 100 != 2)
    return fail(ErrorCode::kInput,
                url + " answers " + std::to_string(answer->status) + "; is Restate there?");
  return std::move(answer->body);
}

Finding check_version(const std::string& version) {
  constexpr int kMajor = 1, kOldestMinor = 6;
  int major = 0, minor = 0;
  const char* const end = version.data() + version.size();
  const auto first = std::from_chars(version.data(), end, major);
  const bool has_dot = first.ec == std::errc() && first.ptr != end && *first.ptr == '.';
  const bool is_read = has_dot && std::from_chars(first.ptr + 1, end, minor).ec == std::errc();
  constexpr const char* kName = "engine version";
  if (!is_read) return {kName, Health::kBad, "the admin API names no version; is Restate there?"};
  if (major < kMajor || (major == kMajor && minor < kOldestMinor))
    return {kName, Health::kBad, "Restate " + version + " is too old; install 1.6 or later"};
  if (major > kMajor)
    return {kName, Health::kMissing, "Restate " + version + " is not known to work; 1.6 and later 1.x are"};
  return {kName, Health::kGood, "Restate " + version};
}

/// Where the turns go: to the address of the last registration with our service.
Finding check_registration(const Json& answer, const std::string& wanted) {
  constexpr const char* kName = "engine registration";
  const Json& deployments = json_at(answer, "deployments");
  if (!deployments.is_array()) return {kName, Health::kBad, "the admin API lists no deployments"};
  std::string others;
  for (const Json& deployment : deployments.get_array()) {
    const std::string uri = without_end(json_string(deployment, "uri"));
    const Json& services = json_at(deployment, "services");
    const bool is_ours =
        services.is_array() && std::ranges::any_of(services.get_array(), [](const Json& each) {
          return json_text(each, "name") == restate::kServiceName;
        });
    if (!is_ours) continue;
    if (uri == wanted) return {kName, Health::kGood, wanted};
    others += (others.empty() ? "" : ", ") + uri;
  }
  const std::string remedy = "; praxis serve --engine restate registers itself when it begins";
  if (others.empty()) return {kName, Health::kMissing, wanted + " is not registered" + remedy};
  return {kName, Health::kMissing, wanted + " is not registered, but " + others + " is" + remedy};
}

}  // namespace

std::vector<Finding> examine_restate(const RestatePlace& place) {
  const auto client = make_http_client();
  const std::string ingress = without_end(place.ingress), admin = without_end(place.admin);
  std::vector<Finding> findings;
  const auto reached = [&](const char* name, const std::string& url, const char* option,
                           const Result<std::string>& answer) {
    findings.push_back(
        answer ? Finding{name, Health::kGood, url + " answers"}
               : Finding{name, Health::kBad,
                         answer.error().message + "; start it, or give its address: " + option + " URL"});
  };
  reached("engine ingress", ingress, "--engine-ingress", ask_restate(*client, ingress + "/restate/health"));
  const auto version = ask_restate(*client, admin + "/version");
  reached("engine admin", admin, "--engine-admin", version);
  if (!version) return findings;
  const Json facts = parse_json(*version).value_or(nullptr);
  findings.push_back(check_version(json_string(facts, "version")));
  const auto listed = ask_restate(*client, admin + "/deployments");
  const Json deployments = listed ? parse_json(*listed).value_or(nullptr) : Json(nullptr);
  findings.push_back(
      check_registration(deployments, without_end(place.reached_at) + std::string(restate::kServicePath)));
  return findings;
}

}  // namespace praxis::app
