// Personal data that only a word near it identifies.
#include "redact/rule.hpp"

namespace praxis::redact {
namespace {

using enum Form;
using enum Check;

constexpr Rule kContext[] = {
    {"passport-number", "passport",
     R"re((?i:passport)(?i: ?(?:no|number|num|#|id|nr)\.?)?["']?(?i: is)?\s{0,3}[:=#]?\s{0,3}["']?([A-Z]{0,2}[0-9]{6,9}[A-Z]?))re",
     "https://github.com/microsoft/presidio/blob/main/presidio-analyzer/presidio_analyzer/"
     "predefined_recognizers/country_specific/us/us_passport_recognizer.py",
     kInWord},
    {"passport-mrz", "p<",
     R"re(P<[A-Z]{3}[A-Z<]{39}\s{0,2}[A-Z0-9<]{9}[0-9][A-Z]{3}[0-9]{7}[MF<][0-9]{7}[A-Z0-9<]{14}[0-9<][0-9])re",
     "https://www.icao.int/publications/pages/publication.aspx?docnum=9303"},
    {"driver-license", "license|licence|driver|dl no|dl#|dln",
     R"re((?i:(?:driver|driving)[a-z']{0,3}[ _-]?(?:licen[sc]e)|licen[sc]e (?:no|number)|dln|dl (?:no|number)|dl#)(?i:[ _-]?(?:no|number|num|#|id)\.?)?["']?(?i: is)?\s{0,3}[:=#]?\s{0,3}["']?([A-Z]{0,3}[0-9][A-Z0-9-]{4,16}))re",
     "https://github.com/microsoft/presidio/blob/main/presidio-analyzer/presidio_analyzer/"
     "predefined_recognizers/country_specific/us/us_driver_license_recognizer.py",
     kInWord, kNone, 1.0F},
    {"us-itin", "itin|taxpayer",
     R"re((?i:itin|taxpayer[^\n:=]{0,24})["']?(?i: is)?\s{0,3}[:=#]?\s{0,3}["']?(9[0-9]{2}[ -]?[5-9][0-9][ -]?[0-9]{4}))re",
     "https://github.com/microsoft/presidio/blob/main/presidio-analyzer/presidio_analyzer/"
     "predefined_recognizers/country_specific/us/us_itin_recognizer.py",
     kInWord},
    {"us-ein", "ein|employer identification",
     R"re((?i:\bein|employer identification(?: number)?)["']?(?i: is)?\s{0,3}[:=#]?\s{0,3}["']?([0-9]{2}-[0-9]{7}))re",
     "https://www.irs.gov/businesses/small-businesses-self-employed/employer-id-numbers", kInWord},
    {"us-bank-routing", "routing|aba",
     R"re((?i:routing|\baba)(?i:[ _-]?(?:no|number|num|#|transit)\.?){0,2}["']?(?i: is)?\s{0,3}[:=#]?\s{0,3}["']?([0-9]{9}))re",
     "https://github.com/microsoft/presidio/blob/main/presidio-analyzer/presidio_analyzer/"
     "predefined_recognizers/country_specific/us/aba_routing_recognizer.py",
     kInWord, kAbaRouting},
    {"bank-account", "account|acct|konto",
     R"re((?i:bank account|account|acct|konto)(?i:[ _-]?(?:no|number|num|nr|#)\.?)["']?(?i: is)?\s{0,3}[:=#]?\s{0,3}["']?([0-9][0-9 -]{6,18}[0-9]))re",
     "https://github.com/microsoft/presidio/blob/main/presidio-analyzer/presidio_analyzer/"
     "predefined_recognizers/country_specific/us/us_bank_recognizer.py",
     kInWord},
    {"swift-bic", "swift|bic",
     R"re((?i:swift|\bbic)(?i:[ /_-]?(?:bic|code|no|number))?["']?(?i: is)?\s{0,3}[:=#]\s{0,3}["']?([A-Z]{4}[A-Z]{2}[A-Z0-9]{2}(?:[A-Z0-9]{3})?))re",
     "https://www.iso.org/standard/84108.html", kInWord},
    {"uk-sort-code", "sort code|sort-code|sortcode|sort_code",
     R"re((?i:sort[ _-]?code)["']?(?i: is)?\s{0,3}[:=#]?\s{0,3}["']?([0-9]{2}[ -]?[0-9]{2}[ -]?[0-9]{2}))re",
     "https://www.wearepay.uk/what-we-do/payment-systems/", kInWord},
    {"card-security-code", "cvv|cvc|cvn|security code",
     R"re((?i:cvv2?|cvc2?|cvn|security code)["']?(?i: is)?\s{0,3}[:=#]?\s{0,3}["']?([0-9]{3,4}))re",
     "https://www.pcisecuritystandards.org/document_library/", kInWord},
    {"birth-date", "birth|dob|born",
     R"re((?i:birth(?:[ _-]?date|day)?|\bdob|born(?: on)?)["']?(?i: is| was)?\s{0,3}[:=]?\s{0,3}["']?([0-9]{1,4}[-/.][0-9]{1,2}[-/.][0-9]{1,4}))re",
     "https://github.com/microsoft/presidio/blob/main/presidio-analyzer/presidio_analyzer/"
     "predefined_recognizers/generic/date_recognizer.py",
     kInWord, kBirthDate},
    {"birth-date", "birth|dob|born",
     R"re((?i:birth(?:[ _-]?date|day)?|\bdob|born(?: on)?)["']?(?i: is| was)?\s{0,3}[:=]?\s{0,3}["']?([0-9]{0,2} ?(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}\.? ?[0-9]{0,2},? [0-9]{4}))re",
     "https://github.com/microsoft/presidio/blob/main/presidio-analyzer/presidio_analyzer/"
     "predefined_recognizers/generic/date_recognizer.py",
     kInWord},
    {"canadian-sin", "sin|social insurance",
     R"re((?i:\bsin|social insurance(?: number)?)["']?(?i: is)?\s{0,3}[:=#]?\s{0,3}["']?([0-9]{3}[ -]?[0-9]{3}[ -]?[0-9]{3}))re",
     "https://www.canada.ca/en/employment-social-development/services/sin.html", kInWord, kLuhn},
    {"australian-tfn", "tfn|tax file",
     R"re((?i:\btfn|tax file(?: number)?)["']?(?i: is)?\s{0,3}[:=#]?\s{0,3}["']?([0-9]{3} ?[0-9]{3} ?[0-9]{3}))re",
     "https://github.com/microsoft/presidio/blob/main/presidio-analyzer/presidio_analyzer/"
     "predefined_recognizers/country_specific/australia/au_tfn_recognizer.py",
     kInWord, kAustralianTfn},
    {"australian-medicare", "medicare",
     R"re((?i:medicare)(?i: ?(?:card|no|number|num|#)\.?){0,2}["']?(?i: is)?\s{0,3}[:=#]?\s{0,3}["']?([2-6][0-9]{3} ?[0-9]{5} ?[0-9]))re",
     "https://github.com/microsoft/presidio/blob/main/presidio-analyzer/presidio_analyzer/"
     "predefined_recognizers/country_specific/australia/au_medicare_recognizer.py",
     kInWord},
    {"danish-cpr", "cpr|personnummer",
     R"re((?i:\bcpr|personnummer)(?i:[ -]?(?:nr|no|number|nummer)\.?)?["']?(?i: is| er)?\s{0,3}[:=#]?\s{0,3}["']?([0-3][0-9][01][0-9]{3}-?[0-9]{4}))re",
     "https://cpr.dk/", kInWord},
    {"portuguese-nif", "nif|contribuinte",
     R"re((?i:\bnif|contribuinte)["']?\s{0,3}[:=#]?\s{0,3}["']?([1-35689][0-9]{8}))re",
     "https://www.portaldasfinancas.gov.pt/", kInWord},
    {"japanese-my-number", "my number|mynumber|my_number",
     R"re((?i:my[ _]?number)["']?(?i: is)?\s{0,3}[:=#]?\s{0,3}["']?([0-9]{4}[ -]?[0-9]{4}[ -]?[0-9]{4}))re",
     "https://www.digital.go.jp/en/policies/mynumber", kInWord},
    {"vehicle-id", "vin|chassis|vehicle id",
     R"re((?i:\bvin|chassis|vehicle id[a-z]{0,20})(?i:[ _-]?(?:no|number|num|#)\.?)?["']?(?i: is)?\s{0,3}[:=#]?\s{0,3}["']?([A-HJ-NPR-Z0-9]{17}))re",
     "https://www.iso.org/standard/52200.html", kInWord, kVin},
    {"device-imei", "imei",
     R"re((?i:imei)(?i:[ _-]?(?:no|number|num|#)\.?)?["']?(?i: is)?\s{0,3}[:=#]?\s{0,3}["']?([0-9]{2}-?[0-9]{6}-?[0-9]{6}-?[0-9]))re",
     "https://www.gsma.com/solutions-and-impact/industry-services/device-services/", kInWord, kLuhn},
    {"bitcoin-address", "bitcoin|btc|wallet",
     R"re((?i:bitcoin|btc|wallet)[^\n;]{0,30}?[\s"'=:]([13][1-9A-HJ-NP-Za-km-z]{25,34}))re",
     "https://github.com/microsoft/presidio/blob/main/presidio-analyzer/presidio_analyzer/"
     "predefined_recognizers/generic/crypto_recognizer.py",
     kInWord, kBase58Check},
    {"medical-record", "mrn|medical record|patient id",
     R"re((?i:\bmrn|medical record(?: number)?|patient id)["']?(?i: is)?\s{0,3}[:=#]?\s{0,3}["']?([A-Z]{0,3}[0-9]{6,12}))re",
     "https://www.hhs.gov/hipaa/for-professionals/privacy/special-topics/de-identification/index.html",
     kInWord},
    {"postal-code", "zip|postal|postcode",
     R"re((?i:zip(?:[ _-]?code)?|post(?:al)?[ _-]?code)["']?(?i: is)?\s{0,3}[:=#]?\s{0,3}["']?([0-9]{5}(?:-[0-9]{4})?|[A-Z][0-9][A-Z] ?[0-9][A-Z][0-9]|[0-9]{3,4}(?: [0-9]{2})?))re",
     "https://www.upu.int/en/activities/addressing", kInWord, kNone, 0, Profile::kStrict},
    {"age", "years old|year old|y/o|aged|age of", R"re((?i:aged|age of) ([0-9]{1,3}))re",
     "https://www.hhs.gov/hipaa/for-professionals/privacy/special-topics/de-identification/index.html",
     kInWord, kNone, 0, Profile::kStrict},
};

}  // namespace

std::span<const Rule> personal_context_rules() { return kContext; }

}  // namespace praxis::redact
