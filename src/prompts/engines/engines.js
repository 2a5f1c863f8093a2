// Mustache, Handlebars and Liquid behind one function: a request as JSON in, an answer as JSON out. It runs in an
// interpreter that has no files, no network and no clock (../renderer).
require("core-js/actual/symbol");
require("core-js/actual/map");
require("core-js/actual/set");
require("core-js/actual/weak-map");
require("core-js/actual/weak-set");
require("core-js/actual/promise");
require("core-js/actual/array");
require("core-js/actual/string");
require("core-js/actual/object");
require("core-js/actual/number");
require("core-js/actual/math");
require("./interpreter.js");
var Handlebars = require("handlebars/dist/handlebars.js");
var liquid = require("liquidjs/dist/liquid.browser.umd.js");
var Mustache = require("mustache/mustache.js");

/** What objects of the caller inherit: their text as JSON, and nothing else that a template could reach. */
var bare = Object.create(null, { toString: { value: function () { return JSON.stringify(this); } } });

/** The same value, with objects that inherit from `bare`. */
function plain(value) {
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map(plain);
  var copy = Object.create(bare);
  Object.keys(value).forEach(function (name) {
    Object.defineProperty(copy, name, { value: plain(value[name]), enumerable: true, configurable: true, writable: true });
  });
  return copy;
}

/** Thrown when a template uses partials that the request does not bring: the caller asks again with them. */
function Needed(names) {
  this.names = names;
}

function given(partials, name) {
  if (!Object.prototype.hasOwnProperty.call(partials, name)) throw new Needed([name]);
  return partials[name];
}

function once(names) {
  return names.filter(function (name, at) { return names.indexOf(name) === at; });
}

/** Calls `look` with each node of a tree, however it is nested. */
function walk(node, look) {
  if (node === null || typeof node !== "object") return;
  if (look(node) === false) return;
  Object.keys(node).forEach(function (name) { if (name !== "loc") walk(node[name], look); });
}

/** The partials that a Handlebars template names, and what it takes from the values outside of its blocks. */
function handlebarsNames(text) {
  var found = { partials: [], variables: [] };
  walk(Handlebars.parse(text), function (node) {
    if (/^Partial/.test(node.type) && node.name.type === "PathExpression") found.partials.push(node.name.original);
    if (/^(Mustache|Block)Statement$|^SubExpression$/.test(node.type) && node.params.length > 0) {
      [node.params, node.hash].forEach(function (each) { walk(each, take); });
      [node.program, node.inverse].forEach(function (block) { if (/^(if|unless)$/.test(node.path.original)) walk(block, take); });
      return false;
    }
    return take(node);
  });
  function take(node) {
    if (/^Partial/.test(node.type)) return false;
    if (node.type === "PathExpression" && !node.data && node.depth === 0 && node.parts.length > 0 && !Handlebars.helpers[node.original]) {
      found.variables.push(node.parts.join("."));
    }
    return true;
  }
  return { partials: once(found.partials), variables: once(found.variables) };
}

function handlebarsPartials(own, text, partials) {
  var needed = [];
  var seen = Object.create(null);
  (function register(source) {
    handlebarsNames(source).partials.forEach(function (name) {
      if (seen[name]) return;
      seen[name] = true;
      if (!Object.prototype.hasOwnProperty.call(partials, name)) return void needed.push(name);
      own.registerPartial(name, partials[name]);
      register(partials[name]);
    });
  })(text);
  if (needed.length > 0) throw new Needed(needed);
}

function liquidOf(partials) {
  var own = new liquid.Liquid({
    ownPropertyOnly: true,
    strictFilters: true,
    relativeReference: false,
    fs: {
      readFileSync: function (name) { return given(partials, name); },
      existsSync: function () { return true; },
      resolve: function (_, name) { return name; },
      contains: function () { return true; },
      containsSync: function () { return true; },
      sep: "/",
    },
  });
  own.registerTag("doc", {
    parse: function (_, rest) {
      for (var token = rest.shift(); token !== undefined; token = rest.shift()) if (token.name === "enddoc") return;
      throw new Error("tag \"doc\" not closed");
    },
    render: function () { return ""; },
  });
  own.registerFilter("base64_url_safe_encode", function (text) {
    return own.filters.base64_encode.call(this, text).replace(/\+/g, "-").replace(/\//g, "_");
  });
  own.registerFilter("base64_url_safe_decode", function (text) {
    return own.filters.base64_decode.call(this, String(text === undefined || text === null ? "" : text).replace(/-/g, "+").replace(/_/g, "/"));
  });
  return own;
}

/** Mustache keeps what it parsed, so that a template that is rendered again is not parsed again. */
var writer = new Mustache.Writer();
var compiled = Object.create(null);

function kept(key, make) {
  if (compiled[key] === undefined) {
    if (Object.keys(compiled).length >= 64) compiled = Object.create(null);
    compiled[key] = make();
  }
  return compiled[key];
}

/** A template that needs partials depends on them too, so only those without are kept. */
function withKept(engine, text, partials, make) {
  return Object.keys(partials).length > 0 ? make() : kept(engine + text, make);
}

var engines = {
  mustache: {
    render: function (text, values, partials) {
      if (Object.keys(writer.templateCache._cache || {}).length > 64) writer.clearCache();
      return writer.render(text, plain(values), function (name) { return given(partials, name); });
    },
    check: function (text) {
      var variables = [];
      (function read(tokens) {
        tokens.forEach(function (token) {
          if (/^(name|&|#|\^)$/.test(token[0]) && token[1] !== ".") variables.push(token[1]);
          if (token[0] === "^") read(token[4]);
        });
      })(Mustache.parse(text));
      return once(variables);
    },
  },
  handlebars: {
    render: function (text, values, partials) {
      return withKept("h", text, partials, function () {
        var own = Handlebars.create();
        handlebarsPartials(own, text, partials);
        return own.compile(text);
      })(plain(values));
    },
    check: function (text) {
      Handlebars.precompile(text);
      return handlebarsNames(text).variables;
    },
  },
  liquid: {
    render: function (text, values, partials) {
      var made = withKept("l", text, partials, function () {
        var own = liquidOf(partials);
        return { own: own, template: own.parse(text) };
      });
      return made.own.renderSync(made.template, plain(values));
    },
    check: function (text) {
      var own = liquidOf({});
      var template = own.parse(text);
      return own.globalVariablesSync(template, { partials: false });
    },
  },
};

globalThis.answer = function (line) {
  try {
    var request = JSON.parse(line);
    globalThis.setClock(request.now);
    var engine = engines[request.engine];
    if (request.values === undefined) return JSON.stringify({ variables: engine.check(request.text) });
    return JSON.stringify({ text: engine.render(request.text, request.values, request.partials) });
  } catch (error) {
    var cause = error && error.originalError ? error.originalError : error;
    if (cause instanceof Needed) return JSON.stringify({ needs: cause.names });
    var words = String((error && error.message) || error);
    return JSON.stringify({ error: /alloc failed/.test(words) ? "it needs too much memory" : words });
  }
};
