// The program that renders templates, embedded in the library.
#pragma once

#include <string_view>

namespace praxis {

std::string_view renderer_image();

}  // namespace praxis
