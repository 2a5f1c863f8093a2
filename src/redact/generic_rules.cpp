// Secrets of unknown services: a word such as `password` or `api_key` stands before them.
#include "redact/rule.hpp"

namespace praxis::redact {
namespace {

using enum Form;
using enum Check;

constexpr Rule kGeneric[] = {
    {"authorization-header",
     "authorization|x-api-key|x-auth-token|x-token|x-access-token|private-token|api-key",
     R"re((?i:(?:proxy-)?authorization|x-api-key|x-auth-token|x-token|x-access-token|private-token|api-key)["']?\s{0,2}[:=,]\s{0,2}["']?(?i:bearer |token |ssws |apikey |digest |negotiate |key |token=)?["']?([A-Za-z0-9_.~+/=%!|:-]{8,999}))re",
     "https://www.rfc-editor.org/rfc/rfc9110#name-authorization", kInWord, kCredential},
    {"bearer-token", "bearer", R"re((?i:bearer)["':]?\s{1,2}["']?([A-Za-z0-9_.~+/=|:-]{16,999}))re",
     "https://www.rfc-editor.org/rfc/rfc6750", kInWord, kCredential},
    {"basic-credentials", "basic", R"re((?i:basic)\s([A-Za-z0-9+/]{8,400}={0,2}))re",
     "https://www.rfc-editor.org/rfc/rfc7617", kAtWord, kBasicAuth},
    {"session-cookie", "cookie",
     R"re((?i:cookie)["']?\s{0,2}[:=]\s{0,2}["']?[^\n"']{0,200}?(?i:sess[a-z_]{0,12}|sid|auth[a-z_]{0,12}|token|[a-z_.-]{1,20}id)=([A-Za-z0-9%_.~+/-]{16,400}))re",
     "https://www.rfc-editor.org/rfc/rfc6265", kInWord, kCredential},
    {"query-credential", "key=|token=|secret=|sig=|signature=|password=|access_token=|code=",
     R"re((?i:key|token|secret|sig|signature|password)=([A-Za-z0-9%_.~+/-]{16,400}))re",
     "https://www.rfc-editor.org/rfc/rfc6750#section-2.3", kInWord, kCredential, 3.0F},
    // An identifier with one of the words, a sign of assignment, a value in quotes or alone.
    {"password", "password|passwd|passphrase|passwort|pwd|pass",
     R"re((?i:password|passwd|passphrase|passwort|pwd|_?pass)[\w.\-]{0,20}\\?["'\])]{0,3}\s{0,4}(?:=>|:=|=|:)\s{0,4}(?:[A-Za-z]{1,8}\()?\\?"([^\s"<>\\]{4,120})\\?")re",
     "https://cwe.mitre.org/data/definitions/798.html", kInWord, kPassword, 1.5F},
    {"password", "password|passwd|passphrase|passwort|pwd|pass",
     R"re((?i:password|passwd|passphrase|passwort|pwd|_?pass)[\w.\-]{0,20}["'\])]{0,3}\s{0,4}(?:=>|:=|=|:)\s{0,4}(?:[A-Za-z]{1,8}\()?'([^\s'<>\\]{4,120})')re",
     "https://cwe.mitre.org/data/definitions/798.html", kInWord, kPassword, 1.5F},
    {"password", "password|passwd|passphrase|pwd|pass",
     R"re((?i:password|passwd|passphrase|pwd|pass)\s{0,2}[=:]\s{0,2}["']([^"'<>\n]{4,60})["'])re",
     "https://cwe.mitre.org/data/definitions/798.html", kInWord, kPassword, 1.5F, Profile::kStrict},
    {"password", "password|passwd|passphrase|passwort|pwd|pass",
     R"re((?i:password|passwd|passphrase|passwort|pwd|_?pass)[\w.\-]{0,20}\\?["'\])]{0,3}\s{0,4}(?:=>|:=|==|=|:|,|\s)\s{0,4}(?:[A-Za-z]{1,8}\()?\\?["'`]?([^\s"'`<>,;()\\]{6,120}))re",
     "https://cwe.mitre.org/data/definitions/798.html", kInWord, kCredential, 2.0F},
    {"password", "_password=|_passwd=|_pass=|_pwd=|_password =",
     R"re(_(?:PASSWORD|PASSWD|PASS|PWD) ?= ?([^\s"'`<>,;()$\\{]{4,60}))re", "https://12factor.net/config",
     kInWord, kPassword, 1.5F},
    {"password", "password|passwd|pwd",
     R"re((?i:password|passwd|pwd)\s{0,4}[=:]\s{0,4}([^\s"'`<>,;()$]{5,60})(?:[\s,;]|\z))re",
     "https://cwe.mitre.org/data/definitions/259.html", kInWord, kPassword, 1.5F, Profile::kStrict},
    {"password", "password|passwd|pwd",
     R"re((?i:password|passwd|pwd)\s{1,4}["']([^\s"'`<>,;()$]{4,60})["'])re",
     "https://cwe.mitre.org/data/definitions/259.html", kInWord, kUrlPassword, 1.5F, Profile::kStrict},
    {"password", "password\"", R"re((?i:password)" value="([^"<>\n]{4,200})")re",
     "https://cwe.mitre.org/data/definitions/259.html", kInWord, kPassword, 1.5F},
    {"credential", "secret|token|credential|webhook|private|key",
     R"re((?i:secret|token|credential|webhook|private|[a-z]{0,12}[_ -]?key)[\w.\-\[\]]{0,40}?\\?["'\])]{0,3}\s{0,6}(?:=>|:=|==|=|:|,)\s{0,6}(?:[A-Za-z]{1,10}\()?\\?["'`]?([A-Za-z0-9_+/=.~@!%^&*-]{8,999}))re",
     "https://cwe.mitre.org/data/definitions/798.html", kInWord, kCredential, 2.8F},
    {"credential", "secret|token|private|access|apikey|api_key|api key|api-key|key",
     R"re((?i:secret|token|private|access|api|key)(?:[\s_-]{0,3}(?i:access|secret|key|token|code)){0,2}["'\s_:=,>-]{1,8}([A-Za-z0-9][A-Za-z0-9_+/=.~-]{14,400}))re",
     "https://cwe.mitre.org/data/definitions/798.html", kInWord, kKeyLike, 2.5F},
    {"credential", "secret|token|private|access|key",
     R"re((?i:secret|token|private|access|api|key)(?:[\s_-]{0,3}(?i:access|secret|key|token|code|pat|id)){0,2}["'\s_:=,>-]{0,8}([A-Za-z0-9][A-Za-z0-9_+/=.~-]{13,400}))re",
     "https://cwe.mitre.org/data/definitions/798.html", kInWord, kKeyLike, 2.0F, Profile::kStrict},
    {"credential", "secret|token|private|access|key",
     R"re((?:SECRET|TOKEN|PRIVATE|ACCESS|KEY)[\s_:=-]{1,6}([A-Za-z]{20,80}|[0-9]{20,80}))re",
     "https://cwe.mitre.org/data/definitions/798.html", kInWord, kNone, 2.5F, Profile::kStrict},
    {"credential-id", "client_id|clientid|client-id|access_key_id|app_id|appid",
     R"re((?i:client[_-]?id|access_key_id|app_?id)[\w]{0,12}["'\])]{0,3}\s{0,4}(?:=>|:=|=|:|,)\s{0,4}["'`]?([A-Za-z0-9_.-]{16,100}))re",
     "https://www.rfc-editor.org/rfc/rfc6749#section-2.2", kInWord, kRandom, 3.0F, Profile::kStrict},
    {"aws-secret-like", "aws|amazon|access",
     R"re((?i:aws|amazon|access)[^\n]{0,40}?[\s"'=:,]([A-Za-z0-9+/]{40}))re",
     "https://docs.aws.amazon.com/IAM/latest/UserGuide/id_credentials_access-keys.html", kInWord, kRandom,
     4.0F},
    {"random-token", "", R"re([A-Za-z0-9_+/-]{24,200}={0,2})re",
     "https://cwe.mitre.org/data/definitions/798.html", kRun, kRandom, 3.8F, Profile::kStrict},
    {"tenant-host",
     ".auth0.com|.openai.azure.com|.search.windows.net|.core.windows.net|.my.salesforce.com|.myshopify.com|."
     "cloud.databricks.com|.azuredatabricks.net|.okta.com|.service-now.com|.snowflakecomputing.com|.storage."
     "googleapis.com|.firebaseio.com|.firebaseapp.com|.azurewebsites.net|.vault.azure.net|.azurecr.io|.rds."
     "amazonaws.com|.execute-api.|.mongodb.net|.atlassian.net|.zendesk.com",
     R"re((?:[A-Za-z0-9-]{1,63}\.){1,4}(?:auth0\.com|openai\.azure\.com|(?:search|blob\.core|queue\.core|table\.core|file\.core)\.windows\.net|my\.salesforce\.com|myshopify\.com|cloud\.databricks\.com|azuredatabricks\.net|okta\.com|service-now\.com|snowflakecomputing\.com|storage\.googleapis\.com|firebaseio\.com|firebaseapp\.com|azurewebsites\.net|vault\.azure\.net|azurecr\.io|rds\.amazonaws\.com|execute-api\.[a-z0-9-]{5,20}\.amazonaws\.com|mongodb\.net|atlassian\.net|zendesk\.com))re",
     "https://learn.microsoft.com/azure/storage/common/storage-account-overview", kAround, kNone, 0,
     Profile::kStrict},
};

}  // namespace

std::span<const Rule> generic_rules() { return kGeneric; }

}  // namespace praxis::redact
