// The compiled half of Asio and Beast: with separate compilation their definitions live in this one file.
#include <boost/asio/impl/src.hpp>
#include <boost/beast/src.hpp>
