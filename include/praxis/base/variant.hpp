// A variant whose special members are compiled once.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>
#include <variant>

#pragma GCC visibility push(default)
namespace praxis {

template <typename Type, typename Base>
inline constexpr bool kIsAlternative = false;
template <typename Type, typename... Types>
inline constexpr bool kIsAlternative<Type, std::variant<Types...>> = (std::is_same_v<Type, Types> || ...);

/// `Base`, a `std::variant` of many types, used as one (`std::visit`, `std::get_if`). Its copies, moves and
/// destruction are compiled once, not in every file that has such a value: a header declares `extern template
/// class Variant<Base>`, and one source that includes `base/variant_impl.hpp` instantiates it.
template <typename Base>
class Variant : public Base {
 public:
  Variant();
  Variant(const Variant& other);
  Variant(Variant&& other) noexcept;
  Variant& operator=(const Variant& other);
  Variant& operator=(Variant&& other) noexcept;
  ~Variant();

  template <typename Type>
    requires kIsAlternative<std::remove_cvref_t<Type>, Base>
  // NOLINTNEXTLINE(google-explicit-constructor): as that of `std::variant`
  Variant(Type&& value) : Base(std::in_place_type<std::remove_cvref_t<Type>>, std::forward<Type>(value)) {}
  template <std::size_t kIndex>
  explicit Variant(std::in_place_index_t<kIndex> index) : Base(index) {}
};

}  // namespace praxis

template <typename Base>
struct std::variant_size<praxis::Variant<Base>> : std::variant_size<Base> {};
#pragma GCC visibility pop
