// Tokens of an identity provider: which are taken, by which keys, and what a server makes of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "server/routes.hpp"
#include "server/testing/oidc_signer.hpp"
#include "server/testing/served.hpp"

namespace praxis::server {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using namespace testing;
using namespace std::chrono_literals;

/// A clock that the test sets.
class OidcClock final : public Environment {
 public:
  UnixMillis now() override { return {kStart.value + passed_.load() / 1'000'000}; }
  std::chrono::nanoseconds monotonic() override {
    if (looks_ > 0 && --looks_ == 0) meanwhile_();
    return std::chrono::nanoseconds(passed_.load());
  }
  std::uint64_t random() override { return 7; }
  void pass(std::chrono::nanoseconds time) { passed_ += time.count(); }
  /// Does this before it answers `monotonic` for the `look`th time from now.
  void at_look(int look, std::function<void()> meanwhile) {
    meanwhile_ = std::move(meanwhile);
    looks_ = look;
  }

  static constexpr UnixMillis kStart{1'800'000'000'000};

 private:
  std::atomic<std::int64_t> passed_ = 0;
  std::atomic<int> looks_ = 0;
  std::function<void()> meanwhile_;
};

class OidcTokens : public ::testing::Test {
 protected:
  void SetUp() override {
    issuer_.publish({rsa_.jwk(), ec_.jwk(), ed_.jwk()});
    provider_ = open(issuer_.url());
  }
  std::shared_ptr<OidcProvider> open(const std::string& issuer) {
    auto opened = OidcProvider::open({issuer, "praxis"}, make_http_client(), clock_,
                                     [this](const std::string& text) { warnings_.push_back(text); });
    EXPECT_TRUE(opened) << opened.error().message;
    return *opened;
  }
  JsonObject claims() const {
    const std::int64_t now = OidcClock::kStart.value / 1000;
    return {{"iss", issuer_.url()}, {"aud", "praxis"}, {"sub", "anna"}, {"exp", now + 300}};
  }
  JsonObject with(std::string_view name, const Json& value) const {
    JsonObject changed = claims();
    changed[name] = value;
    return changed;
  }
  /// Empty if the token is taken.
  std::string refusal(const std::string& token) {
    const auto read = provider_->claims_of(token);
    if (read) return "";
    for (std::size_t i = 0; i + 16 < token.size(); i += 16)
      EXPECT_THAT(read.error().message, Not(HasSubstr(token.substr(i, 16)))) << "nothing of the token";
    return read.error().message;
  }

  const std::shared_ptr<OidcClock> clock_ = std::make_shared<OidcClock>();
  const OidcSigner rsa_{"RS256", "r1"}, ec_{"ES256", "e1"}, ed_{"EdDSA", "d1"};
  OidcIssuer issuer_;
  std::vector<std::string> warnings_;
  std::shared_ptr<OidcProvider> provider_;
};

TEST_F(OidcTokens, EachAlgorithmIsTaken_AndNoChangedTextOrSignature) {
  for (const OidcSigner* signer : {&rsa_, &ec_, &ed_}) {
    const std::string token = signer->sign(claims());
    EXPECT_EQ(refusal(token), "") << signer->algorithm();
    for (std::size_t i = 0; i < token.size(); i += 7) {
      std::string changed = token;
      changed[i] = changed[i] == 'A' ? 'B' : 'A';
      EXPECT_NE(refusal(changed), "") << signer->algorithm() << " at " << i;
    }
    const std::string other = signer->sign(with("sub", "eve"));
    EXPECT_NE(refusal(other.substr(0, other.rfind('.')) + token.substr(token.rfind('.'))), "");
  }
  EXPECT_EQ(issuer_.key_reads(), 1) << "damaged tokens cause no requests";
}

TEST_F(OidcTokens, AlgorithmsThatProveNothingAreRefused) {
  const std::string body = base64url_encode(to_json_text(claims())) + '.';
  for (const char* const none : {"none", "None", "NONE", "nOnE", ""}) {
    const std::string header = base64url_encode(to_json_text(JsonObject{{"alg", none}, {"kid", "r1"}}));
    EXPECT_THAT(refusal(header + '.' + body), HasSubstr("RS256, ES256 and EdDSA")) << none;
  }
  EXPECT_THAT(refusal(base64url_encode("{}") + '.' + body), HasSubstr("RS256"));
  // The public key is known to all, so that it must never count as a shared secret.
  const std::string modulus = json_string(rsa_.jwk(), "n");
  for (const std::string& secret : {to_json_text(rsa_.jwk()), modulus, base64url_decode(modulus).value()}) {
    for (const char* const name : {"HS256", "RS256", "EdDSA"}) {
      EXPECT_NE(refusal(hmac_token(secret, {{"alg", name}, {"kid", "r1"}}, claims())), "") << name;
    }
  }
  for (const char* const name : {"RS384", "RS512", "PS256", "ES384", "HS256"}) {
    EXPECT_THAT(
        refusal(rsa_.sign(to_json_text(JsonObject{{"alg", name}, {"kid", "r1"}}), to_json_text(claims()))),
        HasSubstr("RS256"))
        << name;
  }
}

TEST_F(OidcTokens, AKeyCountsForItsOwnAlgorithmAlone) {
  for (const OidcSigner* signer : {&rsa_, &ec_, &ed_}) {
    for (const auto& [algorithm, id] : {std::pair("RS256", "r1"), {"ES256", "e1"}, {"EdDSA", "d1"}}) {
      const JsonObject header{{"alg", algorithm}, {"kid", id}};
      const std::string why = refusal(signer->sign(to_json_text(header), to_json_text(claims())));
      EXPECT_EQ(why.empty(), signer->algorithm() == algorithm) << signer->algorithm() << ' ' << algorithm;
    }
  }
  JsonObject mixed{{"alg", "RS256"}, {"kid", "e1"}};
  EXPECT_THAT(refusal(rsa_.sign(to_json_text(mixed), to_json_text(claims()))), HasSubstr("not known"));
  // A key that the token brings with it, or says where to find, proves nothing.
  const OidcSigner own("RS256", "r1");
  JsonObject brought{{"alg", "RS256"}, {"jwk", own.jwk()}, {"jku", issuer_.url() + "/keys"}, {"kid", "r1"}};
  EXPECT_THAT(refusal(own.sign(to_json_text(brought), to_json_text(claims()))), HasSubstr("signature"));
}

TEST_F(OidcTokens, ClaimsOfAnotherIssuerAudienceOrTimeAreRefused) {
  const std::int64_t now = OidcClock::kStart.value / 1000;
  EXPECT_THAT(refusal(rsa_.sign(with("iss", Json(issuer_.url() + "/")))), HasSubstr("another issuer"));
  EXPECT_THAT(refusal(rsa_.sign(with("iss", JsonArray{issuer_.url()}))), HasSubstr("another issuer"));
  for (const Json& audience : {Json("other"), Json("praxis2"), Json(nullptr), Json(JsonArray{}),
                               Json(JsonArray{"other"}), Json(JsonObject{{"praxis", true}})})
    EXPECT_THAT(refusal(rsa_.sign(with("aud", audience))), HasSubstr("another audience"));
  EXPECT_EQ(refusal(rsa_.sign(with("aud", JsonArray{"other", "praxis"}))), "");
  for (const Json& expiry : {Json(now - 30), Json(0), Json(-1), Json(1.0)})
    EXPECT_THAT(refusal(rsa_.sign(with("exp", expiry))), HasSubstr("expired"));
  for (const Json& expiry : {Json(nullptr), Json("1900000000"), Json(true)})
    EXPECT_THAT(refusal(rsa_.sign(with("exp", expiry))), HasSubstr("when it expires"));
  EXPECT_EQ(refusal(rsa_.sign(with("exp", now - 29))), "") << "clocks may differ a little";
  for (const Json& begin : {Json(now + 31), Json("0"), Json(1e300)})
    EXPECT_THAT(refusal(rsa_.sign(with("nbf", begin))), HasSubstr("not valid yet"));
  EXPECT_EQ(refusal(rsa_.sign(with("nbf", now + 30))), "");
  JsonObject logout = rsa_.header();
  logout["typ"] = "logout+jwt";
  EXPECT_THAT(refusal(rsa_.sign(to_json_text(logout), to_json_text(claims()))), HasSubstr("another purpose"));
  EXPECT_THAT(refusal(rsa_.sign(with("nonce", "n-1"))), HasSubstr("another purpose")) << "an ID token";
  const Json events = JsonObject{{"http://schemas.openid.net/event/backchannel-logout", JsonObject{}}};
  EXPECT_THAT(refusal(rsa_.sign(with("events", events))), HasSubstr("another purpose"));
  JsonObject extended = rsa_.header();
  extended["crit"] = JsonArray{"b64"};
  EXPECT_THAT(refusal(rsa_.sign(to_json_text(extended), to_json_text(claims()))), HasSubstr("extension"));
}

TEST_F(OidcTokens, TextsThatReadersUnderstandDifferentlyAreRefused) {
  std::string twice = to_json_text(claims());
  twice.insert(twice.size() - 1, R"(,"sub":"root")");
  EXPECT_THAT(refusal(rsa_.sign(to_json_text(rsa_.header()), twice)), HasSubstr("a key twice"));
  std::string escaped = to_json_text(claims());
  escaped.insert(escaped.size() - 1, R"(,"\u0073ub":"root")");
  EXPECT_THAT(refusal(rsa_.sign(to_json_text(rsa_.header()), escaped)), HasSubstr("a key twice"));
  EXPECT_THAT(refusal(rsa_.sign(R"({"alg":"none","alg":"RS256","kid":"r1"})", to_json_text(claims()))),
              HasSubstr("a key twice"));
  for (const char* const body : {"[]", "null", "\"x\"", "{", "", "\xff"})
    EXPECT_THAT(refusal(rsa_.sign(to_json_text(rsa_.header()), body)), HasSubstr("no JSON object")) << body;
  const std::string token = rsa_.sign(claims());
  for (const std::string& changed : {token + ".", token + "=", token + " ", "." + token, std::string(".."),
                                     std::string("a.b"), token.substr(0, token.rfind('.'))})
    EXPECT_NE(refusal(changed), "") << changed;
  EXPECT_THAT(refusal(rsa_.sign(with("pad", Json(std::string(20'000, 'x'))))), HasSubstr("16 KiB"));
  EXPECT_THAT(provider_->claims_of(std::string(1'000'000, '.')).error().message, HasSubstr("16 KiB"));
  std::string deep(40, '[');
  deep += std::string(40, ']');
  EXPECT_NE(refusal(rsa_.sign(to_json_text(rsa_.header()), R"({"a":)" + deep + "}")), "");
}

TEST_F(OidcTokens, UnknownKeysAreLookedForOnceAMinute) {
  EXPECT_EQ(refusal(rsa_.sign(claims())), "");
  const OidcSigner fresh("ES256", "e2");
  EXPECT_THAT(refusal(fresh.sign(claims())), HasSubstr("not known"));
  EXPECT_EQ(issuer_.key_reads(), 1) << "the keys are less than a minute old";
  clock_->pass(1min);
  for (int i = 0; i < 100; ++i) {
    const OidcSigner other("EdDSA", "storm" + std::to_string(i));
    EXPECT_THAT(refusal(other.sign(claims())), HasSubstr("not known"));
  }
  EXPECT_EQ(issuer_.key_reads(), 2);
  issuer_.publish({rsa_.jwk(), fresh.jwk()});
  clock_->pass(1min);
  EXPECT_EQ(refusal(fresh.sign(claims())), "") << "the provider has a new key";
  EXPECT_NE(refusal(ec_.sign(claims())), "") << "and has withdrawn another";
  EXPECT_EQ(issuer_.key_reads(), 3);
  for (const char* const id :
       {"../../etc/passwd", "/keys", "http://127.0.0.1/", "r1\\u0000", "' OR 1=1", "*"}) {
    const std::string header = R"({"alg":"RS256","kid":")" + std::string(id) + "\"}";
    EXPECT_THAT(refusal(rsa_.sign(header, to_json_text(claims()))), HasSubstr("not known")) << id;
  }
  for (const char* const id : {"17", "[\"r1\"]", "{}", "true"}) {
    const std::string header = R"({"alg":"RS256","kid":)" + std::string(id) + "}";
    EXPECT_THAT(refusal(rsa_.sign(header, to_json_text(claims()))), HasSubstr("not known")) << id;
  }
}

TEST_F(OidcTokens, ATokenWithoutAKeyIdNeedsAKeyThatIsAloneForItsAlgorithm) {
  const std::string header = R"({"alg":"RS256"})";
  EXPECT_EQ(refusal(rsa_.sign(header, to_json_text(claims()))), "");
  const OidcSigner second("RS256", "r2");
  issuer_.publish({rsa_.jwk(), second.jwk()});
  clock_->pass(10min);
  provider_->refresh();
  EXPECT_THAT(refusal(rsa_.sign(header, to_json_text(with("exp", 1'900'000'000)))), HasSubstr("not known"));
}

TEST_F(OidcTokens, ATokenWithoutAKeyIdMakesItLookForANewKey) {
  EXPECT_EQ(refusal(rsa_.sign(claims())), "");
  const OidcSigner fresh("RS256", "r1");
  issuer_.publish({fresh.jwk()});
  clock_->pass(1min);
  EXPECT_THAT(refusal(fresh.sign(claims())), HasSubstr("signature")) << "a key that is named is that key";
  EXPECT_EQ(issuer_.key_reads(), 1);
  const std::string token = fresh.sign(R"({"alg":"RS256"})", to_json_text(claims()));
  EXPECT_EQ(refusal(token), "");
  for (int i = 0; i < 10; ++i)
    EXPECT_THAT(refusal(rsa_.sign(R"({"alg":"RS256"})", to_json_text(claims()))), HasSubstr("not known"));
  EXPECT_EQ(issuer_.key_reads(), 2) << "at most once a minute";
}

TEST_F(OidcTokens, KeysThatAreReadBetweenTwoLooksCount) {
  EXPECT_EQ(refusal(rsa_.sign(claims())), "");
  const OidcSigner fresh("ES256", "e2");
  issuer_.publish({fresh.jwk()});
  clock_->pass(1min);
  // The first look is at the age of the known keys, the second at whether they are due.
  std::string other = "not asked";
  clock_->at_look(2, [&] { other = refusal(fresh.sign(claims())); });
  EXPECT_EQ(refusal(fresh.sign(claims())), "");
  EXPECT_EQ(other, "");
  EXPECT_EQ(issuer_.key_reads(), 2);
}

TEST_F(OidcTokens, WhileKeysAreReadAnUnknownKeyIsToBeTriedAgain) {
  EXPECT_EQ(refusal(rsa_.sign(claims())), "");
  const OidcSigner fresh("ES256", "e2");
  issuer_.publish({rsa_.jwk(), fresh.jwk()});
  clock_->pass(1min);
  const std::string token = fresh.sign(claims()), known = rsa_.sign(claims());
  std::atomic<int> status = 0;
  std::atomic<bool> takes_known = false;
  issuer_.before_keys([&] {
    const auto read = provider_->claims_of(token);
    status = read ? 200 : Access::status_of(read.error());
    takes_known = provider_->claims_of(known).has_value();
  });
  EXPECT_EQ(refusal(token), "");
  EXPECT_EQ(status, 503);
  EXPECT_TRUE(takes_known);
}

TEST_F(OidcTokens, KeysThatProveTooLittleAreNotKept) {
  JsonObject for_encryption = rsa_.jwk(), of_other_use = ec_.jwk(), off_the_curve = ec_.jwk();
  for_encryption["use"] = "enc";
  of_other_use["key_ops"] = JsonArray{"sign"};
  off_the_curve["y"] = json_string(off_the_curve, "x");
  const JsonObject small = OidcSigner("RS256", "r3", 1024).jwk();
  JsonObject even = rsa_.jwk(), shared{{"kty", "oct"}, {"kid", "r1"}, {"k", "c2VjcmV0"}};
  even["e"] = base64url_encode("\x04");
  JsonObject other_curve = ec_.jwk(), other_algorithm = rsa_.jwk();
  other_curve["crv"] = "P-384";
  other_algorithm["alg"] = "PS256";
  for (const JsonObject& key :
       {for_encryption, of_other_use, off_the_curve, small, even, shared, other_curve, other_algorithm})
    EXPECT_FALSE(OidcKeys::read(JsonObject{{"keys", JsonArray{key}}})) << to_json_text(key);
  EXPECT_FALSE(OidcKeys::read(JsonObject{{"keys", JsonArray(101, Json(rsa_.jwk()))}}));
  for (const Json& set : {Json(nullptr), Json(JsonObject{}), Json(JsonArray{rsa_.jwk()})})
    EXPECT_FALSE(OidcKeys::read(set));
}

TEST_F(OidcTokens, KnownKeysOutliveTheProviderForAnHour) {
  const std::string token = rsa_.sign(with("exp", 1'900'000'000));
  EXPECT_EQ(refusal(token), "");
  issuer_.set_away(true);
  for (int i = 0; i < 5; ++i) {
    clock_->pass(11min);
    provider_->refresh();
    EXPECT_EQ(refusal(token), "");
  }
  EXPECT_EQ(warnings_.size(), 1U);
  clock_->pass(5min);
  const auto refused = provider_->claims_of(token);
  ASSERT_FALSE(refused);
  EXPECT_TRUE(refused.error().retriable);
  EXPECT_EQ(Access::status_of(refused.error()), 503);
  issuer_.set_away(false);
  EXPECT_NE(refusal(token), "") << "the next attempt is not made at once";
  clock_->pass(5s);
  EXPECT_EQ(refusal(token), "");
}

TEST_F(OidcTokens, DocumentsThatLeadElsewhereAreNotFollowed) {
  const auto described = [&](const std::string& issuer, const std::string& keys) {
    issuer_.describe(to_json_text(JsonObject{{"issuer", issuer}, {"jwks_uri", keys}}));
    provider_ = open(issuer_.url());
    warnings_.clear();
    provider_->refresh();
    EXPECT_EQ(warnings_.size(), 1U) << keys;
    return warnings_.empty() ? "" : warnings_.front();
  };
  EXPECT_THAT(described("https://other.example", issuer_.url() + "/keys"),
              HasSubstr("names itself otherwise"));
  EXPECT_THAT(described(issuer_.url(), "http://keys.example.org/"), HasSubstr("not https"));
  for (const char* const keys : {"", "file:///etc/passwd", "https://user@example.org/"})
    EXPECT_THAT(described(issuer_.url(), keys), HasSubstr("not https")) << keys;
  for (const char* const keys : {"https://10.0.0.1/", "https://169.254.169.254/keys", "https://[fd00::1]/"})
    EXPECT_THAT(described(issuer_.url(), keys), HasSubstr("is not allowed")) << keys;
  issuer_.describe("[]");
  provider_ = open(issuer_.url());
  EXPECT_THAT(refusal(rsa_.sign(claims())), HasSubstr("keys of the identity provider are not known"));
  issuer_.describe(std::string(300'000, ' ') + "{}");
  clock_->pass(5s);
  EXPECT_NE(refusal(rsa_.sign(claims())), "");
  for (const char* const wrong :
       {"", "http://login.example.org", "login.example.org", "ftp://login.example.org",
        "https://login.example.org?x", "https://user@login.example.org"})
    EXPECT_FALSE(OidcProvider::open({wrong, "praxis"}, nullptr, clock_, nullptr)) << wrong;
  EXPECT_FALSE(OidcProvider::open({"https://login.example.org", ""}, nullptr, clock_, nullptr));
}

// ---- at a server

class ServedOidc : public ServerTest {
 protected:
  ServedOidc() { issuer_.publish({signer_.jwk()}); }
  ~ServedOidc() override { server_.reset(); }  // it writes to the log
  void rules(const std::string& text) const {
    const std::string path = (folder_ / "config/praxis/roles.toml").string();
    std::filesystem::create_directories(folder_ / "config/praxis");
    std::ofstream(path + ".new") << text;
    ::chmod((path + ".new").c_str(), 0600);
    std::filesystem::rename(path + ".new", path);
  }
  void start_with_provider() {
    ServerOptions options;
    options.access.files = {(folder_ / "state/praxis").string(),
                            (folder_ / "config/praxis/roles.toml").string()};
    options.oidc = {issuer_.url(), "praxis"};
    options.log = [this](const std::string& line) {
      const std::lock_guard lock(mutex_);
      log_ += line;
    };
    start(std::move(options));
  }
  std::string token(JsonObject claims, std::chrono::seconds life = 5min) const {
    claims["iss"] = issuer_.url();
    claims["aud"] = "praxis";
    claims["exp"] = system_environment()->now().value / 1000 + life.count();
    return signer_.sign(claims);
  }

  const OidcSigner signer_{"ES256", "e1"};
  OidcIssuer issuer_;
  std::mutex mutex_;
  std::string log_;
};

TEST_F(ServedOidc, WithoutARuleAValidTokenMayDoNothing) {
  start_with_provider();
  const std::string anna = token({{"sub", "anna"}, {"groups", JsonArray{"staff"}}});
  for (const Route& route : routes()) {
    if (!route.needs_token) continue;
    std::string path(route.path);
    for (std::size_t at = path.find('{'); at != path.npos; at = path.find('{'))
      path.replace(at, path.find('}') - at + 1, "x");
    const Answer answer = call(route.method, path, route.body.empty() ? "" : "{}", anna);
    EXPECT_EQ(answer.status, 403) << route.method << ' ' << path;
    EXPECT_THAT(answer.body, HasSubstr("no rule gives it a role")) << path;
  }
  const Answer answer = call("GET", "/api/v1/runs", "", anna);
  EXPECT_THAT(answer.head, HasSubstr("application/problem+json"));
  EXPECT_EQ(answer.text("kind"), "no_role");
  EXPECT_EQ(call("GET", "/api/v1/runs", "", token({{"sub", "anna"}}) + "x").status, 401);
  EXPECT_EQ(call("GET", "/api/v1/runs").status, 200) << "tokens of the server go on";
  const std::lock_guard lock(mutex_);
  EXPECT_THAT(log_, Not(HasSubstr(anna.substr(anna.rfind('.') + 1))));
}

TEST_F(ServedOidc, RulesGiveRolesTenantsAndAgentsWithoutARestart) {
  asking_agent();
  rules(
      "[oidc]\ntenant_claim = \"org\"\n[[oidc.rules]]\nrole = \"developer\"\nclaim = \"realm_access.roles\"\n"
      "has = [\"praxis-dev\"]\n[[oidc.rules]]\nrole = \"viewer\"\nclaim = \"scope\"\nhas = "
      "[\"praxis:read\"]\n"
      "agents = [\"chat\"]\n");
  start_with_provider();
  const Json dev = JsonObject{{"roles", JsonArray{"other", "praxis-dev"}}};
  const std::string anna = token({{"sub", "anna"}, {"org", "acme"}, {"realm_access", dev}});
  const std::string bert = token({{"sub", "bert"}, {"org", "other"}, {"realm_access", dev}});
  const std::string vera = token({{"sub", "vera"}, {"org", "acme"}, {"scope", "openid praxis:read"}});
  const std::string run = create("ask", anna);
  wait_for(run, "awaiting_user");
  EXPECT_EQ(call("GET", "/api/v1/runs/" + run, "", anna).status, 200);
  EXPECT_EQ(call("GET", "/api/v1/runs/" + run, "", bert).status, 404);
  EXPECT_EQ(call("GET", "/api/v1/runs/" + run, "", vera).status, 404) << "of another agent";
  const std::string chat = create("chat", anna);
  EXPECT_EQ(call("GET", "/api/v1/runs/" + chat, "", vera).status, 200);
  EXPECT_EQ(call("POST", "/api/v1/runs", R"({"agent":"chat","prompt":"hi"})", vera).text("right"), "run");
  EXPECT_THAT(call("GET", "/api/v1/runs/" + run + "/records").body, HasSubstr("oidc:anna"));
  EXPECT_EQ(call("GET", "/api/v1/runs", "", token({{"sub", "vera"}, {"scope", "praxis:reader"}})).status,
            403);
  const Answer nowhere = call("GET", "/api/v1/runs", "", token({{"sub", "a"}, {"realm_access", dev}}));
  EXPECT_THAT(nowhere.text("detail"), HasSubstr("\"org\" names no tenant"));
  const Answer unnamed = call("GET", "/api/v1/runs", "", token({{"org", "acme"}, {"realm_access", dev}}));
  EXPECT_THAT(unnamed.text("detail"), HasSubstr("\"sub\" names no principal"));
  rules("four_eyes = true\n[[oidc.rules]]\nrole = \"developer\"\ntenant = \"acme\"\n");
  EXPECT_EQ(call("POST", "/api/v1/runs/" + run + "/steps/p1", R"({"decision":"allow"})", anna).status, 403);
  EXPECT_EQ(call("POST", "/api/v1/runs/" + run + "/steps/p1", R"({"decision":"allow"})", bert).status, 200);
}

TEST_F(ServedOidc, OpenStreamsEndWithTheTokenOrTheRole) {
  rules("[[oidc.rules]]\nrole = \"viewer\"\n");
  start_with_provider();
  RawClient events(server_->port());
  events.send(request("GET", "/api/v1/events", {}, token({{"sub", "anna"}})));
  events.read_until("\r\n\r\n");
  RawClient expiring(server_->port());
  expiring.send(request("GET", "/api/v1/events", {}, token({{"sub", "bert"}}, -28s)));
  expiring.read_until("\r\n\r\n");
  expiring.read_all();
  rules("[[oidc.rules]]\nrole = \"viewer\"\nclaim = \"sub\"\nhas = [\"vera\"]\n");
  events.read_all();
}

TEST_F(ServedOidc, WithoutTheProviderTheAnswerIs503) {
  rules("[[oidc.rules]]\nrole = \"viewer\"\n");
  issuer_.set_away(true);
  start_with_provider();
  const Answer answer = call("GET", "/api/v1/runs", "", token({{"sub", "anna"}}));
  EXPECT_EQ(answer.status, 503) << answer.body;
  EXPECT_THAT(answer.head, HasSubstr("Retry-After: "));
  EXPECT_THAT(answer.text("detail"), HasSubstr("keys of the identity provider"));
  EXPECT_EQ(call("GET", "/api/v1/runs", "", "not-a-token-of-this-server").status, 401);
  EXPECT_EQ(call("GET", "/api/v1/runs").status, 200);
}

TEST_F(ServedOidc, WrongRulesNameTheirPlace) {
  const auto problem = [&](const std::string& text) {
    const auto read = app::parse_roles(text, "roles.toml");
    return read ? std::string() : read.error().message;
  };
  EXPECT_THAT(problem("[[oidc.rules]]\nrole = \"viewr\"\n"), HasSubstr("did you mean \"viewer\"?"));
  EXPECT_THAT(problem("[[oidc.rules]]\nclaim = \"x\"\nhas = [\"y\"]\n"), HasSubstr("a rule needs a role"));
  EXPECT_THAT(problem("[[oidc.rules]]\nrole = \"viewer\"\nclaim = \"x\"\n"), HasSubstr("both claim and has"));
  EXPECT_THAT(problem("[[oidc.rules]]\nrole = \"viewer\"\nhas = [\"x\"]\n"), HasSubstr("both claim and has"));
  for (const char* const empty : {"has = []", "claim = \"x\"\nhas = []", "agents = []"})
    EXPECT_THAT(problem("[[oidc.rules]]\nrole = \"viewer\"\n" + std::string(empty) + "\n"),
                HasSubstr("give a value, or leave the key out"))
        << empty;
  EXPECT_THAT(problem("[[oidc.rules]]\nrole = \"viewer\"\nrights = [\"run\"]\n"),
              HasSubstr("is no key of a rule"));
  EXPECT_THAT(problem("[[oidc.rules]]\nrole = 1\n"), HasSubstr("\"role\" must be"));
  EXPECT_THAT(problem("[[oidc.rules]]\nrole = \"viewer\"\ntenant = \"a b\"\n"),
              HasSubstr("a tenant has a name"));
  EXPECT_THAT(problem("[oidc]\nprincipal = \"x\"\n"), HasSubstr("principal_claim"));
  EXPECT_THAT(problem("[[oidc.rules]]\nrole = \"viewer\"\n[[oidc.rules]]\nrole = \"x\"\n"),
              HasSubstr("roles.toml:3"));
}

}  // namespace
}  // namespace praxis::server
