// Checks of cards, accounts and addresses: of people, and of their machines.
#pragma once

#include <string_view>

namespace praxis::redact {

/// A dotted IPv4 address; not of this machine, of documentation, a mask or the unspecified one.
bool is_public_ipv4(std::string_view text);
/// An IPv6 address with at least two groups that are not empty; not of documentation.
bool is_public_ipv6(std::string_view text);
/// Six pairs of hexadecimal digits; not all zero or all ones.
bool is_mac(std::string_view text);
/// An e-mail address that can belong to a person: no example domain, no image name such as `logo@2x.png`.
bool is_email(std::string_view text);
/// A telephone number: the count of its digits is possible, and it is no date.
bool is_phone(std::string_view text);
/// A latitude and a longitude with at least four decimals.
bool is_coordinates(std::string_view text);
/// A calendar date with a possible month and day.
bool is_date(std::string_view text);

}  // namespace praxis::redact
