/** For preloads: calls `before` with the text of each statement of SQLite that may change something, whichever driver runs it. */
'use strict';

const Module = require('node:module');

module.exports = function watchStatements(before) {
  const patched = new WeakSet();
  const patch = (prototype, name, around) => {
    const original = prototype[name];
    prototype[name] = function (...args) {
      return around(this, args, () => original.apply(this, args));
    };
  };
  const texts = new WeakMap();
  const patchStatement = (statement) => {
    const prototype = Object.getPrototypeOf(statement);
    if (patched.has(prototype)) return;
    patched.add(prototype);
    patch(prototype, 'run', (self, _args, run) => {
      before(texts.get(self) ?? '');
      return run();
    });
    patch(prototype, 'get', (self, _args, get) => {
      const text = texts.get(self) ?? '';
      if (/ returning /.test(text)) before(text);
      return get();
    });
  };
  const patchDriver = ({ prototype }) => {
    if (patched.has(prototype)) return;
    patched.add(prototype);
    patch(prototype, 'exec', (_self, [text], exec) => {
      before(text);
      return exec();
    });
    patch(prototype, 'prepare', (_self, [text], prepare) => {
      const statement = prepare();
      texts.set(statement, text);
      patchStatement(statement);
      return statement;
    });
  };
  const { getBuiltinModule } = process;
  if (getBuiltinModule !== undefined) {
    process.getBuiltinModule = (name) => {
      const found = getBuiltinModule.call(process, name);
      if (name === 'node:sqlite' && found !== undefined) patchDriver(found.DatabaseSync);
      return found;
    };
  }
  const load = Module._load;
  Module._load = function (name, ...rest) {
    const loaded = load.call(this, name, ...rest);
    if (name === 'libsql') patchDriver(loaded);
    return loaded;
  };
};
