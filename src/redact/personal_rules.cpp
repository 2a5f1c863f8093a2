// Personal data with a form of its own, most of it with check digits.
#include "redact/rule.hpp"

namespace praxis::redact {
namespace {

using enum Form;
using enum Check;
constexpr float kAny = 0;

constexpr Rule kPersonal[] = {
    {"email", "@|%40",
     R"re([A-Za-z0-9][A-Za-z0-9._%+'\-]{0,63}(?:@|%40)(?:[A-Za-z0-9](?:[A-Za-z0-9\-]{0,61}[A-Za-z0-9])?\.){1,6}[A-Za-z]{2,24})re",
     "https://www.rfc-editor.org/rfc/rfc5322#section-3.4.1", kAround, kEmail},
    {"payment-card", "",
     R"re([0-9]{4}[ -]?[0-9]{4,6}[ -]?[0-9]{4,5}(?:[ -]?[0-9]{1,4}(?:[ -]?[0-9]{3})?)?)re",
     "https://github.com/microsoft/presidio/blob/main/presidio-analyzer/presidio_analyzer/"
     "predefined_recognizers/generic/credit_card_recognizer.py",
     kNumber, kCard},
    {"iban", "",
     R"re([A-Za-z]{2}[0-9]{2}(?:[A-Za-z0-9]{11,30}|(?: [A-Za-z0-9]{4}){2,7}(?: [A-Za-z0-9]{1,3})?))re",
     "https://www.swift.com/standards/data-standards/iban-international-bank-account-number", kNumber, kIban},
    {"us-ssn", "", R"re([0-9]{3}-[0-9]{2}-[0-9]{4})re",
     "https://github.com/microsoft/presidio/blob/main/presidio-analyzer/presidio_analyzer/"
     "predefined_recognizers/country_specific/us/us_ssn_recognizer.py",
     kNumber, kSsn},
    {"us-ssn", "ssn|social security|socialsecurity|social-security",
     R"re([0-9]{3}[ .-]?[0-9]{2}[ .-]?[0-9]{4})re",
     "https://github.com/microsoft/presidio/blob/main/presidio-analyzer/presidio_analyzer/"
     "predefined_recognizers/country_specific/us/us_ssn_recognizer.py",
     kNumber, kSsn},
    {"ipv4-address", "", R"re([0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3})re",
     "https://www.rfc-editor.org/rfc/rfc791", kNumber, kIpv4},
    {"ipv6-address", "", R"re([0-9A-Fa-f:]{3,4}[0-9A-Fa-f:]{4,35}(?:\.[0-9.]{3,12})?)re",
     "https://www.rfc-editor.org/rfc/rfc4291#section-2.2", kNumber, kIpv6},
    {"mac-address", "", R"re([0-9A-Fa-f]{2}(?:(?::[0-9A-Fa-f]{2}){5}|(?:-[0-9A-Fa-f]{2}){5}))re",
     "https://github.com/microsoft/presidio/blob/main/presidio-analyzer/presidio_analyzer/"
     "predefined_recognizers/generic/mac_recognizer.py",
     kNumber, kMac},
    {"phone-number", "",
     R"re(\+[0-9]{1,3}[ .\-]?(?:\(0?[0-9]{0,4}\)[ .\-]?)?[0-9]{1,5}(?:[ .\-/]?[0-9]{2,5}){1,5}(?: ?x ?[0-9]{1,6})?)re",
     "https://github.com/microsoft/presidio/blob/main/presidio-analyzer/presidio_analyzer/"
     "predefined_recognizers/generic/phone_recognizer.py",
     kNumber, kPhone},
    {"phone-number", "",
     R"re((?:001-|1[ .-])?(?:\([2-9][0-9]{2}\) ?|[2-9][0-9]{2}[-. ])[2-9][0-9]{2}[-.][0-9]{4}(?: ?x ?[0-9]{1,6})?)re",
     "https://github.com/microsoft/presidio/blob/main/presidio-analyzer/presidio_analyzer/"
     "predefined_recognizers/generic/phone_recognizer.py",
     kNumber, kPhone},
    {"phone-number", "", R"re(\(0?[0-9]{2,4}\) ?[0-9]{3,4}[- ][0-9]{3,4})re",
     "https://github.com/microsoft/presidio/blob/main/presidio-analyzer/presidio_analyzer/"
     "predefined_recognizers/generic/phone_recognizer.py",
     kNumber, kPhone, kAny},
    {"phone-number", "", R"re(0[0-9]{1,4}(?:[ .][0-9]{2,4}){2,4})re",
     "https://github.com/microsoft/presidio/blob/main/presidio-analyzer/presidio_analyzer/"
     "predefined_recognizers/generic/phone_recognizer.py",
     kNumber, kPhone, kAny},
    {"phone-number",
     "phone|tel|mobile|fax|cell|call|office|desk|contact|whatsapp|sms|reach|answering at|messages to",
     R"re(\(?[0-9]{2,5}\)?(?:[ .\-/]?[0-9]{2,5}){1,4}(?: ?x ?[0-9]{1,6})?)re",
     "https://github.com/microsoft/presidio/blob/main/presidio-analyzer/presidio_analyzer/"
     "predefined_recognizers/generic/phone_recognizer.py",
     kNumber, kPhone},
    {"phone-number", "", R"re([0-9]{2}[ -][0-9]{2}[ -][0-9]{2}[ -][0-9]{2})re",
     "https://github.com/microsoft/presidio/blob/main/presidio-analyzer/presidio_analyzer/"
     "predefined_recognizers/generic/phone_recognizer.py",
     kNumber, kPhone, kAny, Profile::kStrict},
    {"phone-number", "", R"re([0-9]{2,4}[ ][0-9]{2,4}[ ][0-9]{2,4}(?: [0-9]{2,4})?)re",
     "https://github.com/microsoft/presidio/blob/main/presidio-analyzer/presidio_analyzer/"
     "predefined_recognizers/generic/phone_recognizer.py",
     kNumber, kPhone, kAny, Profile::kStrict},
    {"uk-nino", "", R"re([A-Z]{2} ?[0-9]{2} ?[0-9]{2} ?[0-9]{2} ?[A-D])re",
     "https://github.com/microsoft/presidio/blob/main/presidio-analyzer/presidio_analyzer/"
     "predefined_recognizers/country_specific/uk/uk_nino_recognizer.py",
     kNumber, kNino},
    {"uk-nhs-number", "nhs|health service", R"re([0-9]{3}[ -]?[0-9]{3}[ -]?[0-9]{4})re",
     "https://github.com/microsoft/presidio/blob/main/presidio-analyzer/presidio_analyzer/"
     "predefined_recognizers/country_specific/uk/uk_nhs_recognizer.py",
     kNumber, kNhs},
    {"spanish-id", "", R"re((?:[0-9]{8}-?[A-HJ-NP-TV-Z]|[XYZ]-?[0-9]{7}-?[A-HJ-NP-TV-Z]))re",
     "https://github.com/microsoft/presidio/blob/main/presidio-analyzer/presidio_analyzer/"
     "predefined_recognizers/country_specific/spain/es_nif_recognizer.py",
     kNumber, kSpanishId},
    {"italian-tax-code", "", R"re([A-Z]{6}[0-9]{2}[A-EHLMPRST][0-9]{2}[A-Z][0-9]{3}[A-Z])re",
     "https://github.com/microsoft/presidio/blob/main/presidio-analyzer/presidio_analyzer/"
     "predefined_recognizers/country_specific/italy/it_fiscal_code_recognizer.py",
     kNumber, kItalianCode},
    {"french-social-security", "",
     R"re([1-47-8] ?[0-9]{2} ?[01][0-9] ?(?:[0-9]{2}|2[AB]) ?[0-9]{3} ?[0-9]{3} ?[0-9]{2})re",
     "https://www.service-public.fr/particuliers/vosdroits/F33078", kNumber, kFrenchNir},
    {"german-tax-id", "steuer|tax|idnr|tin", R"re([1-9][0-9]{1,2} ?[0-9]{3} ?[0-9]{3} ?[0-9]{2,3})re",
     "https://github.com/microsoft/presidio/blob/main/presidio-analyzer/presidio_analyzer/"
     "predefined_recognizers/country_specific/germany/de_tax_id_recognizer.py",
     kNumber, kGermanTaxId},
    {"polish-pesel", "pesel", R"re([0-9]{11})re",
     "https://github.com/microsoft/presidio/blob/main/presidio-analyzer/presidio_analyzer/"
     "predefined_recognizers/country_specific/poland/pl_pesel_recognizer.py",
     kNumber, kPesel},
    {"swedish-personal-number", "", R"re((?:19|20)?[0-9]{6}[-+][0-9]{4})re",
     "https://github.com/microsoft/presidio/blob/main/presidio-analyzer/presidio_analyzer/"
     "predefined_recognizers/country_specific/sweden/se_personnummer_recognizer.py",
     kNumber, kPersonnummer},
    {"finnish-personal-id", "", R"re([0-3][0-9][01][0-9]{3}[-+A-FU-Y][0-9]{3}[0-9A-FHJ-NPR-Y])re",
     "https://dvv.fi/en/personal-identity-code", kNumber, kFinnishId},
    {"norwegian-personal-number",
     "f\xc3\xb8"
     "dselsnummer|fodselsnummer|personnummer|norw|national id",
     R"re([0-3][0-9][0-9]{4} ?[0-9]{5})re",
     "https://www.skatteetaten.no/en/person/national-registry/identitetsnummer/", kNumber, kNorwegianId},
    {"dutch-bsn", "bsn|burgerservice|sofi", R"re([0-9]{8,9})re",
     "https://www.government.nl/topics/personal-data/citizen-service-number-bsn", kNumber, kDutchBsn},
    {"belgian-national-number", "", R"re([0-9]{2}\.[01][0-9]\.[0-3][0-9]-[0-9]{3}[.-][0-9]{2})re",
     "https://www.ibz.rrn.fgov.be/en/national-register/", kNumber, kBelgianId},
    {"brazilian-cpf", "", R"re([0-9]{3}\.[0-9]{3}\.[0-9]{3}-[0-9]{2})re",
     "https://www.gov.br/receitafederal/pt-br/assuntos/meu-cpf", kNumber, kCpf},
    {"brazilian-cpf", "cpf", R"re([0-9]{11})re", "https://www.gov.br/receitafederal/pt-br/assuntos/meu-cpf",
     kNumber, kCpf},
    {"brazilian-cnpj", "", R"re([0-9]{2}\.[0-9]{3}\.[0-9]{3}/[0-9]{4}-[0-9]{2})re",
     "https://www.gov.br/receitafederal/pt-br/assuntos/orientacao-tributaria/cadastros/cnpj", kNumber, kCnpj},
    {"indian-aadhaar", "", R"re([2-9][0-9]{3}[ -][0-9]{4}[ -][0-9]{4})re",
     "https://github.com/microsoft/presidio/blob/main/presidio-analyzer/presidio_analyzer/"
     "predefined_recognizers/country_specific/india/in_aadhaar_recognizer.py",
     kNumber, kAadhaar},
    {"indian-aadhaar", "aadhaar|aadhar|uidai", R"re([2-9][0-9]{11})re",
     "https://github.com/microsoft/presidio/blob/main/presidio-analyzer/presidio_analyzer/"
     "predefined_recognizers/country_specific/india/in_aadhaar_recognizer.py",
     kNumber, kAadhaar},
    {"indian-pan", "", R"re([A-Z]{3}[PCHFATBLJG][A-Z][0-9]{4}[A-Z])re",
     "https://github.com/microsoft/presidio/blob/main/presidio-analyzer/presidio_analyzer/"
     "predefined_recognizers/country_specific/india/in_pan_recognizer.py",
     kNumber},
    {"singapore-nric", "", R"re([STFGM][0-9]{7}[A-Z])re",
     "https://github.com/microsoft/presidio/blob/main/presidio-analyzer/presidio_analyzer/"
     "predefined_recognizers/country_specific/singapore/sg_fin_recognizer.py",
     kNumber, kNric},
    {"chinese-resident-id", "", R"re([1-8][0-9]{5}(?:19|20)[0-9]{2}[01][0-9][0-3][0-9][0-9]{3}[0-9Xx])re",
     "https://openstd.samr.gov.cn/bzgk/gb/newGbInfo?hcno=080D6FBF2BB468F9007657F26D60013E", kNumber,
     kChineseId},
    {"korean-rrn", "", R"re([0-9]{2}[01][0-9][0-3][0-9]-[1-8][0-9]{6})re",
     "https://github.com/microsoft/presidio/blob/main/presidio-analyzer/presidio_analyzer/"
     "predefined_recognizers/country_specific/korea/kr_rrn_recognizer.py",
     kNumber, kKoreanRrn},
    {"mexican-curp", "",
     R"re([A-Z]{4}[0-9]{2}[01][0-9][0-3][0-9][HMX][A-Z]{2}[B-DF-HJ-NP-TV-Z]{3}[A-Z0-9][0-9])re",
     "https://www.gob.mx/curp/", kNumber},
    {"chilean-rut", "", R"re([0-9]{1,2}\.[0-9]{3}\.[0-9]{3}-[0-9Kk])re",
     "https://www.sii.cl/ayudas/aprenda_sobre/3072-1-3080.html", kNumber, kRut},
    {"argentine-cuit", "", R"re((?:20|23|24|27|30|33|34)-[0-9]{8}-[0-9])re",
     "https://www.argentina.gob.ar/servicio/obtener-el-cuil", kNumber, kCuit},
    {"gps-coordinates", "", R"re([0-9]{1,2}\.[0-9]{4,15}[ ]?,[ ]?-?[0-9]{1,3}\.[0-9]{4,15})re",
     "https://www.rfc-editor.org/rfc/rfc5870", kNumber, kCoordinates},
    {"ethereum-address", "0x", R"re(0x[a-fA-F0-9]{40})re",
     "https://ethereum.org/en/developers/docs/accounts/", kAtWord, kMixed},
    {"bitcoin-address", "bc0", R"re(bc1[ac-hj-np-z02-9]{25,59})re",
     "https://github.com/microsoft/presidio/blob/main/presidio-analyzer/presidio_analyzer/"
     "predefined_recognizers/generic/crypto_recognizer.py",
     kAtWord, kMixed},
};

}  // namespace

std::span<const Rule> personal_rules() { return kPersonal; }

}  // namespace praxis::redact
