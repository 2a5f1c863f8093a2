#pragma once

#include "praxis/base/variant.hpp"

namespace praxis {

template <typename Base>
Variant<Base>::Variant() = default;
template <typename Base>
Variant<Base>::Variant(const Variant& other) = default;
template <typename Base>
Variant<Base>::Variant(Variant&& other) noexcept = default;
template <typename Base>
Variant<Base>& Variant<Base>::operator=(const Variant& other) = default;
template <typename Base>
Variant<Base>& Variant<Base>::operator=(Variant&& other) noexcept = default;
template <typename Base>
Variant<Base>::~Variant() = default;

}  // namespace praxis
