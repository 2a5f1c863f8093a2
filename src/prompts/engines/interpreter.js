// What the engines use of a browser and Duktape does not have, and a clock and random numbers that are the same in
// every run.
var now = 0;
globalThis.setClock = function (milliseconds) {
  now = milliseconds;
  seed = 1;
};

var seed = 1;
Math.random = function () {
  seed = (seed * 48271) % 2147483647;
  return (seed - 1) / 2147483646;
};

var months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/** Reads dates that people write, such as `March 14, 2016 10:30` and `14 Mar 2016`, as UTC; NaN for others. */
function read(text) {
  var time = /(?:[ T]|^)(\d{1,2}):(\d{2})(?::(\d{2}))?\s*(?:Z|UTC|GMT|([+-])(\d{2}):?(\d{2}))?\s*$/.exec(text);
  var words = (time === null ? text : text.slice(0, time.index)).toLowerCase().replace(/^[a-z]+day,?\s+|^(?:mon|tue|wed|thu|fri|sat|sun),\s+/, "");
  var date = /^([a-z]{3})[a-z]*\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})$/.exec(words.trim());
  var isNumbers = date === null && /^(\d{4})[-/](\d{1,2})[-/](\d{1,2})$/.exec(words.trim());
  var other = date === null && /^(\d{1,2})\s+([a-z]{3})[a-z]*\.?,?\s+(\d{4})$/.exec(words.trim());
  var year = isNumbers ? isNumbers[1] : other ? other[3] : date && date[3];
  var month = isNumbers ? isNumbers[2] - 1 : months.indexOf(other ? other[2] : date ? date[1] : "");
  var day = isNumbers ? isNumbers[3] : other ? other[1] : date && date[2];
  if (month < 0 || !year) return NaN;
  var zone = time && time[4] ? (time[4] === "-" ? 1 : -1) * (time[5] * 60 + Number(time[6])) : 0;
  return Date.UTC(year, month, day, time ? time[1] : 0, (time ? Number(time[2]) : 0) + zone, time && time[3] ? time[3] : 0);
}

var Real = Date;
function Clock(year, month, day, hours, minutes, seconds, ms) {
  if (!(this instanceof Clock)) return new Real(now).toString();
  if (arguments.length === 0) return new Real(now);
  if (arguments.length > 1) return new Real(year, month, day === undefined ? 1 : day, hours || 0, minutes || 0, seconds || 0, ms || 0);
  var made = new Real(year);
  return typeof year === "string" && isNaN(made.getTime()) ? new Real(read(year)) : made;
}
Clock.prototype = Real.prototype;
Clock.UTC = Real.UTC;
Clock.parse = function (text) { return new Clock(String(text)).getTime(); };
Clock.now = function () { return now; };
globalThis.Date = Clock;

if (Uint8Array.from === undefined) {
  Uint8Array.from = function (from, map) {
    var list = Array.from(from, map);
    var bytes = new Uint8Array(list.length);
    for (var at = 0; at < list.length; at++) bytes[at] = list[at];
    return bytes;
  };
}

if (typeof Duktape !== "undefined") {
  globalThis.btoa = function (text) {
    return Duktape.enc("base64", Uint8Array.from(text, function (letter) { return letter.charCodeAt(0); }));
  };
  globalThis.atob = function (text) {
    return Array.from(new Uint8Array(Duktape.dec("base64", text).buffer), function (byte) { return String.fromCharCode(byte); }).join("");
  };
}
