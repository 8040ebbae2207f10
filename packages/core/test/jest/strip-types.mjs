import { stripTypeScriptTypes } from 'node:module';

/** The sources are erasable TypeScript, so jest needs no compiler for them. */
export default { process: (source) => ({ code: stripTypeScriptTypes(source) }) };
