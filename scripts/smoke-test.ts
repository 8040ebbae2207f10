/**
 * Run by the build in an empty project that has only the packed packages: every entry loads, the
 * index has names, and the client reaches a server, which has the dashboard.
 */
import { readFileSync } from 'node:fs';
import { serve } from '@adjutant/server';
import { client } from '@adjutant/server/client';
import * as adjutant from 'adjutant';

function entriesOf(name: string): string[] {
  const manifest = JSON.parse(readFileSync(`node_modules/${name}/package.json`, 'utf8')) as {
    exports: Record<string, object | string>;
  };
  return Object.entries(manifest.exports).flatMap(([entry, target]) =>
    typeof target === 'string' ? [] : [entry.replace('.', name)],
  );
}

const entries = [...['adjutant', '@adjutant/server'].flatMap(entriesOf), '@adjutant/cli'];

/**
 * Entries that are for test runners: without them they must fail for want of one, and of nothing
 * else.
 */
const codes: Readonly<Record<string, string>> = {
  'adjutant/testing/vitest': 'missing_package',
  'adjutant/testing/jest': 'expect_not_found',
};

async function assertNeedsRunner(entry: string, code: string): Promise<void> {
  const reason: unknown = await import(entry).then(
    () => 'it loaded',
    (error: unknown) => error,
  );
  if (!adjutant.isAdjutantError(reason, code))
    throw new Error(`${entry} does not ask for its test runner: ${String(reason)}`);
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

const app = adjutant.runtime({
  app: 'smoke',
  runnables: [adjutant.agent({ name: 'clerk', model: adjutant.rehearsal() })],
});
const listening = await serve(app, { port: 0 });
const { status, output } = await client({ url: listening.url }).runs.start({
  agent: 'clerk',
  input: 'What is 6 * 7?',
});
const page = listening.page === undefined ? undefined : await fetch(listening.page);
const html = (await page?.text()) ?? '';
await listening.close({ closeApp: true });
if (!html.includes('assets/')) throw new Error(`there is no dashboard: ${page?.status} ${html}`);
console.log(`the dashboard: ${html.length} characters`);
if (status !== 'completed') throw new Error(`a run over HTTP ended as ${status}`);
console.log(`a run over HTTP: ${JSON.stringify(output)}`);
