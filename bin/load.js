// Loads the command line (dist/*.cjs): each file once, with its compiled code where an earlier run has kept that.
'use strict';

const fs = require('node:fs');
const path = require('node:path');
const { pathToFileURL } = require('node:url');
const vm = require('node:vm');

const FOLDER = path.join(__dirname, '..', 'dist');
// What a file is given; `_module.url` is what `import.meta.url` was in the source (see build.mjs).
const BEFORE = '(function(module,exports,require,_module){';
const AFTER = '\n})';

/** @param code what keeps compiled code (code-cache.js), or undefined @returns what loads a file of dist by its name */
exports.loaderWith = (code) => {
  const modules = new Map();
  return function load(name) {
    const known = modules.get(name);
    if (known !== undefined) return known.exports;
    const module = { exports: {} };
    modules.set(name, module);
    const from = (asked) => (asked.startsWith('./') ? load(asked.slice(2)) : require(asked));
    scriptOf(name, code).runInThisContext()(module, module.exports, from, placeOf(name));
    return module.exports;
  };
};

function scriptOf(name, code) {
  const filename = path.join(FOLDER, name);
  // ASCII alone, as esbuild writes it: it is neither checked nor held in two bytes a character.
  const source = `${BEFORE}${fs.readFileSync(filename, 'latin1')}${AFTER}`;
  const cachedData = code?.of(filename, source);
  const script = new vm.Script(source, { filename, columnOffset: -BEFORE.length, cachedData });
  code?.note(filename, source, script);
  return script;
}

function placeOf(name) {
  return {
    get url() {
      return pathToFileURL(path.join(FOLDER, name)).href;
    },
  };
}
