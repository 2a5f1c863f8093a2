#include "app/look_alikes.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace praxis::app {

namespace {

struct CodeRange {
  char32_t first, last;
};

template <std::size_t N>
bool is_in(const std::array<CodeRange, N>& ranges, char32_t c) {
  return std::ranges::any_of(ranges,
                             [&](const CodeRange& range) { return c >= range.first && c <= range.last; });
}

/// Latin, Greek, Cyrillic, Armenian and Georgian letters, then punctuation, in the order of their code
/// points.
constexpr std::u32string_view kSingle =
    U"\u0131\u0138\u017F\u0185\u0196\u01BD\u01C0\u01C3\u0251\u0261\u0263\u0269\u026A\u028B\u028F\u02B9\u02BC"
    U"\u02C2\u02C3\u02C4\u02C6\u02C8\u02CB\u02D0\u02D7\u02DC\u02F8\u037E\u0391\u0392\u0395\u0396\u0397\u0399"
    U"\u039A\u039C\u039D\u039F\u03A1\u03A4\u03A5\u03A7\u03B1\u03B3\u03B9\u03BA\u03BD\u03BF\u03C1\u03C3\u03C5"
    U"\u03C7\u03F2\u03F3\u03F9\u0405\u0406\u0408\u0410\u0412\u0415\u0417\u041A\u041C\u041D\u041E\u0420\u0421"
    U"\u0422\u0423\u0425\u042C\u0430\u0431\u0433\u0435\u043A\u043E\u043F\u0440\u0441\u0443\u0445\u0455\u0456"
    U"\u0458\u0461\u0475\u04AE\u04AF\u04BB\u04BD\u04C0\u04CF\u050C\u0501\u051A\u051B\u051C\u051D\u0555\u0561"
    U"\u0563\u0566\u0570\u0575\u0578\u057C\u057D\u0581\u0584\u0585\u0589\u10E7\u10FF\u1D04\u1D0F\u1D1C\u1D20"
    U"\u1D21\u1D22\u1E9D\u2010\u2011\u2012\u2024\u201A\u2032\u2035\u2043\u2044\u2052\u205A\u2212"
    U"\u2215\u2216\u2217\u2218\u2223\u2236\u223C\u2573\u2758\u29F5\u29F8\u29F9\u2CA3\u2CA5\u2CBD\u2D54\u2D55"
    U"\u3002\u3003\u4E36\u4E3F\uA4D0\uA4D1\uA4D2\uA4D3\uA731\uA789\uA78C\uFE52\uFE58\uFE63\uFE68";
constexpr std::array<CodeRange, 8> kBlocks{{{0x2100, 0x214F},      // letter-like symbols
                                            {0x2160, 0x217F},      // Roman numerals
                                            {0x24B6, 0x24E9},      // letters in circles
                                            {0xA4D0, 0xA4F7},      // Lisu
                                            {0x13A0, 0x13F4},      // Cherokee
                                            {0xFF01, 0xFF5E},      // full-width forms
                                            {0x1D400, 0x1D7FF},    // mathematical letters and digits
                                            {0x1FBF0, 0x1FBF9}}};  // segmented digits
constexpr std::array<CodeRange, 5> kRightToLeft{
    {{0x590, 0x8FF}, {0xFB1D, 0xFDFF}, {0xFE70, 0xFEFE}, {0x10800, 0x10FFF}, {0x1E800, 0x1EFFF}}};
constexpr std::array<CodeRange, 19> kUnclear{{{0xA0, 0xA0},
                                              {0x300, 0x36F},
                                              {0x483, 0x489},
                                              {0x600, 0x605},  // these and the next five: format characters
                                              {0x6DD, 0x6DD},
                                              {0x70F, 0x70F},
                                              {0x890, 0x891},
                                              {0x8E2, 0x8E2},
                                              {0x110BD, 0x110CD},
                                              {0x1680, 0x1680},
                                              {0x1AB0, 0x1AFF},
                                              {0x1DC0, 0x1DFF},
                                              {0x2000, 0x200A},
                                              {0x202F, 0x202F},
                                              {0x205F, 0x205F},
                                              {0x20D0, 0x20FF},
                                              {0x3000, 0x3000},
                                              {0xE000, 0xF8FF},
                                              {0xFE20, 0xFE2F}}};
constexpr char32_t kPrivatePlanes = 0xF0000;

}  // namespace

bool looks_like_ascii(char32_t c) {
  return c >= 0x80 && (kSingle.find(c) != std::u32string_view::npos || is_in(kBlocks, c));
}

bool is_right_to_left(char32_t c) { return is_in(kRightToLeft, c); }

bool is_unclear(char32_t c) { return is_in(kUnclear, c) || c >= kPrivatePlanes; }

}  // namespace praxis::app
