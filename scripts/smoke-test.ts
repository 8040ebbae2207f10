/** Run by the build in an empty project that has only the packed packages: every entry loads, and the index has names. */
import { readFileSync } from 'node:fs';
import * as adjutant from 'adjutant';

const manifest = JSON.parse(readFileSync('node_modules/adjutant/package.json', 'utf8')) as { exports: Record<string, object | string> };
const entries = Object.entries(manifest.exports).flatMap(([entry, target]) => (typeof target === 'string' ? [] : [entry.replace('.', 'adjutant')]));

for (const entry of entries) {
  const names = Object.keys((await import(entry)) as object);
  console.log(`${entry}: ${names.join(', ')}`);
}
if (Object.keys(adjutant).length === 0) throw new Error("'adjutant' exports nothing");
