// The compiled half of Boost.JSON, in place of its shared library: so the compiler sees through both halves.
#include <boost/json/src.hpp>
