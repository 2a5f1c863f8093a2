// Compiles Boost.JSON into this library, in place of its shared library, so that the compiler can optimise
// across both.
#include <boost/json/src.hpp>
