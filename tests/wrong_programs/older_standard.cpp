// expects: Praxis needs C++23
// standard: c++20
#include <praxis/praxis.hpp>
