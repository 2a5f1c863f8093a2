// Sequences by which a text tries to reach the terminal around the program that shows it; `hostile_texts.hpp`
// has those that deceive a user.
#pragma once

#include <string>
#include <vector>

namespace praxis::testing {

/// Each is valid UTF-8.
inline std::vector<std::string> hostile_sequences() {
  std::vector<std::string> all;
  for (const char* command : {"0;title",
                              "1;icon",
                              "2;title",
                              "4;1;rgb:ff/00/00",
                              "7;file:///etc",
                              "8;;http://evil.example/",
                              "8;id=1;http://evil.example/",
                              "9;notice",
                              "10;#ff0000",
                              "11;?",
                              "12;#00ff00",
                              "22;wait",
                              "50;font",
                              "52;c;aGk=",
                              "52;c;?",
                              "52;p;!",
                              "99;i=1;notice",
                              "104",
                              "133;A",
                              "777;notify;a;b",
                              "1337;File=:aGk="}) {
    for (const char* end : {"\x07", "\x1b\\", "\u009C", ""})
      all.push_back(std::string("\x1b]") + command + end);
  }
  for (const char* text : {"\u009D0;title\u009C", "\u009D52;c;aGk=\x07", "\u0090q#0\u009C", "\u009Fapc\u009C",
                           "\u009Epm\u009C", "\u0098sos\u009C", "\x1bPq#0;2;0;0;0\x1b\\", "\x1bP$q\"p\x1b\\",
                           "\x1bP+q544e\x1b\\", "\x1b_Gf=24;aGk=\x1b\\", "\x1b^pm\x1b\\", "\x1bXsos\x1b\\",
                           "\x1bktitle\x1b\\", "\u009B2J", "\u009B31m", "\u009B?1049h", "\u009B6n"})
    all.emplace_back(text);
  for (const char* command :
       {"2J",   "3J",     "H",      "1;1H",   "999;999H", "6n",     "5n",      "c",    ">c",
        "=c",   "?1049h", "?47h",   "?1047h", "?25l",     "?7l",    "?5h",     "?6h",  "?1h",
        "?3h",  "?1000h", "?1003h", "?1006h", "?1004l",   "?2004l", "?2026h",  "?69h", "4h",
        "20h",  "1;2r",   "s",      "u",      "!p",       "8m",     "0;31;5m", "100A", "100D",
        "100P", "100M",   "100L",   "100@",   "100X",     "2K",     "3g",      "4 q",  "8;1;1t",
        "21t",  "22;0t",  "5i",     "?u",     ">1u",      "201~x"})
    all.push_back(std::string("\x1b[") + command);
  for (const char* rest : {"c", "7", "8", "=", ">", "(0", ")B", "#8", "#3", "D",
                           "M", "E", "H", "N", "O", "n",  "o",  "%@", "%G", "Z"})
    all.push_back(std::string("\x1b") + rest);
  for (const char* control : {"\x07", "back\b\b\b\bspaced", "over\rwritten", "\x0b", "\x0c", "\x0e", "\x0f",
                              "\x05", "\x1a", "\x18", "\x7f", "\x1b", "\x1b["})
    all.emplace_back(control);
  for (const char* hidden :
       {"\u200B", "\u200C", "\u200D", "\u200E", "\u200F", "\u202A", "\u202B", "\u202D", "\u202E", "\u2060",
        "\u2063", "\u2066", "\u2067", "\u2068", "\u061C", "\uFEFF", "\u00AD", "\u034F"})
    all.push_back(std::string("a") + hidden + "b");
  all.emplace_back(5000, 'x');
  std::string wide, marks = "e";
  for (int i = 0; i < 700; ++i) {
    wide += "\u65E5";
    marks += "\u0301";
  }
  all.push_back(wide);
  all.push_back(marks);
  return all;
}

}  // namespace praxis::testing
