#include "net/own_addresses.hpp"

#include <ifaddrs.h>

#include <memory>
#include <string>

#include "net/socket_address.hpp"

namespace praxis {

bool is_own_address(std::string_view address) {
  constexpr std::string_view kMapped = "::ffff:";
  const bool is_mapped = address.starts_with(kMapped) && address.contains('.');
  const auto asked =
      SocketAddress::parse(std::string(is_mapped ? address.substr(kMapped.size()) : address), 0);
  if (!asked) return false;
  const std::string text = asked->text();
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return false;
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owned(list, freeifaddrs);
  for (const ifaddrs* one = list; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr) continue;
    const auto own = SocketAddress::of(*one->ifa_addr, 0);
    if (own && own->text() == text) return true;
  }
  return false;
}

}  // namespace praxis
