const { stripTypeScriptTypes } = require('node:module');

/** Makes TypeScript without enums and namespaces readable for jest; ts-jest, Babel and SWC do it too. */
exports.process = (source) => ({ code: stripTypeScriptTypes(source) });
