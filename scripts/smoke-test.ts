/** Run by the build in an empty project that has only the packed packages: every entry loads, and the index has names. */
import { readFileSync } from 'node:fs';
import * as adjutant from 'adjutant';

const manifest = JSON.parse(readFileSync('node_modules/adjutant/package.json', 'utf8')) as { exports: Record<string, object | string> };
const entries = Object.entries(manifest.exports).flatMap(([entry, target]) => (typeof target === 'string' ? [] : [entry.replace('.', 'adjutant')]));

/** Entries that are for test runners: without them they must fail for want of one, and of nothing else. */
const codes: Readonly<Record<string, string>> = { 'adjutant/testing/vitest': 'missing_package', 'adjutant/testing/jest': 'expect_not_found' };

async function assertNeedsRunner(entry: string, code: string): Promise<void> {
  const reason: unknown = await import(entry).then(
    () => 'it loaded',
    (error: unknown) => error,
  );
  if (!adjutant.isAdjutantError(reason, code)) throw new Error(`${entry} does not ask for its test runner: ${String(reason)}`);
  console.log(`${entry}: ${reason.message}`);
}

for (const entry of entries) {
  const code = codes[entry];
  if (code !== undefined) {
    await assertNeedsRunner(entry, code);
    continue;
  }
  const names = Object.keys((await import(entry)) as object);
  console.log(`${entry}: ${names.join(', ')}`);
}
if (Object.keys(adjutant).length === 0) throw new Error("'adjutant' exports nothing");
