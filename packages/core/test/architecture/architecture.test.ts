/**
 * Test of the architecture: allowed imports, sizes, and the effects of importing the package. The
 * table is in architecture/rooms.ts, the accepted findings in architecture/exceptions.ts.
 * architecture/*.test.ts show that each rule can fail.
 *
 * This test does not look for an event type that a fold does not handle. `Fold` (ledger/event.ts)
 * is a mapped type over all event types, so the compiler refuses such a fold. `npm run check` then
 * fails.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { checkServer } from './client-rules.ts';
import { exceptions, mostExceptions } from './exceptions.ts';
import { checkFiles, checkPackages } from './file-rules.ts';
import { applyExceptions, type Finding, printFindings, type Rule } from './finding.ts';
import { checkImportEffects, checkIndexShape, checkWeight } from './index-rules.ts';
import { checkRooms } from './room-rules.ts';
import { withRoomTable } from './room-table.ts';
import { readManifest, readSourceTree, repositoryRoot } from './source-tree.ts';

const index = 'packages/core/src/index.ts';
const files = readSourceTree();
const core = readManifest('packages/core');
const cli = readManifest('packages/cli');
const server = readManifest('packages/server');

const findings = applyExceptions(
  [
    ...checkFiles(files),
    ...checkRooms(files),
    ...checkPackages(files, core),
    ...checkPackages(files, cli),
    ...checkPackages(files, server),
    ...checkServer(files),
    ...files.filter(({ path }) => path === index).flatMap(checkIndexShape),
    ...checkWeight(index, files, core.dependencies),
    ...[...core.entries, ...server.entries]
      .filter((entry) => !entry.includes('/testing/'))
      .flatMap((entry) => checkImportEffects(entry, files)),
  ],
  exceptions,
);

function expectNone(...rules: Rule[]): void {
  const found: Finding[] = findings.filter(({ rule }) => rules.includes(rule));
  expect(found.length, `\n${printFindings(found)}\n`).toBe(0);
}

test('the sources were found', () => {
  expect(files.map(({ path }) => path)).toContain(index);
  expect(core.entries).toContain(index);
});
test('every file can be parsed', () => expectNone('syntax'));
test('rooms import only what the table allows', () => expectNone('room-import'));
test('the client of the server loads nothing of core, of the server or of Node', () =>
  expectNone('client-import'));
test('workspaces import one another by package name', () => expectNone('workspace-import'));
test('packages are imported at run time only if an install brings them', () =>
  expectNone('package-import'));
test('no circle of imports, of types neither', () => expectNone('import-circle'));
test('ARCHITECTURE.md shows the table of rooms; `npm run room-table` writes it', () => {
  const page = readFileSync(`${repositoryRoot}ARCHITECTURE.md`, 'utf8');
  expect(withRoomTable(page)).toBe(page);
});
test('files and functions stay short', () => expectNone('file-size', 'function-size'));
test('no export *', () => expectNone('export-star'));
test('no default export', () => expectNone('default-export'));
test('no any', () => expectNone('any'));
test('time, timers, identifiers and randomness enter through ports', () =>
  expectNone('raw-source-of-chance'));
test('pure rooms reach nothing outside', () => expectNone('impure-room'));
test('modules only declare', () => expectNone('import-side-effect'));
test('the index is a list of named exports', () => expectNone('index-shape'));
test('the index loads only its dependencies', () => expectNone('index-weight'));
test('every exception is still needed, and there are no more than before', () => {
  expectNone('stale-exception');
  expect(exceptions.length).toBeLessThanOrEqual(mostExceptions);
});

test('importing the package leaves the process as it was', () => {
  const program = `
    const look = () => JSON.stringify([Reflect.ownKeys(globalThis).map(String), process.eventNames().map(String), process.getActiveResourcesInfo(), process.env]);
    const before = look();
    await import('adjutant');
    if (look() !== before) throw new Error('changed: ' + before + ' to ' + look());
    process.stdout.write('same');`;
  const output = execFileSync(
    process.execPath,
    ['--conditions=adjutant-source', '--input-type=module', '--eval', program],
    {
      cwd: `${repositoryRoot}packages/core`,
      encoding: 'utf8',
    },
  );
  expect(output).toBe('same');
});
