// The compiled half of the part of Beast that is used here: its parser of HTTP messages.
#include <boost/beast/core/impl/string.ipp>
#include <boost/beast/http/detail/basic_parser.ipp>
#include <boost/beast/http/detail/rfc7230.ipp>
#include <boost/beast/http/impl/basic_parser.ipp>
#include <boost/beast/http/impl/error.ipp>
#include <boost/beast/http/impl/field.ipp>
#include <boost/beast/http/impl/rfc7230.ipp>
#include <boost/beast/http/impl/verb.ipp>

template class boost::beast::http::basic_parser<false>;
template class boost::beast::http::basic_parser<true>;
