const { stripTypeScriptTypes } = require('node:module');

/** A transformer of jest. The sources are erasable TypeScript, so no compiler is needed. */
exports.process = (source) => ({ code: stripTypeScriptTypes(source) });
