import { spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../../../../', import.meta.url));
const compiler = join(root, 'node_modules/typescript/bin/tsc');
const folder = mkdtempSync(join(tmpdir(), 'adjutant-types-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The declarations as they are published. */
beforeAll(() => {
  const build = [
    '-p',
    'packages/core/tsconfig.build.json',
    '--emitDeclarationOnly',
    '--sourceMap',
    'false',
    '--inlineSources',
    'false',
  ];
  // Errors of the sources are a matter of the type check.
  spawnSync(process.execPath, [compiler, ...build, '--outDir', join(folder, 'dist')], {
    cwd: root,
    encoding: 'utf8',
  });
}, 120_000);

/**
 * A project of a user that has `adjutant` and no packages but these. Gives the errors in its file
 * and in our declarations.
 */
function typeErrors(
  name: string,
  packages: readonly string[],
  source: string,
  types: readonly string[] = ['node'],
): readonly string[] {
  const project = join(folder, name);
  const modules = join(project, 'node_modules');
  mkdirSync(join(modules, 'adjutant'), { recursive: true });
  // Copied, not linked: what lies beside the sources must not be found from there.
  cpSync(join(folder, 'dist'), join(modules, 'adjutant/dist'), { recursive: true });
  cpSync(join(root, 'packages/core/package.json'), join(modules, 'adjutant/package.json'));
  for (const linked of [
    '@types/node',
    'undici-types',
    '@ai-sdk/provider',
    '@standard-schema/spec',
    'json-schema',
    ...packages,
  ]) {
    mkdirSync(dirname(join(modules, linked)), { recursive: true });
    symlinkSync(join(root, 'node_modules', linked), join(modules, linked));
  }
  writeFileSync(join(project, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(project, 'user.ts'), source);
  const strictness = [
    '--strict',
    '--skipLibCheck',
    'false',
    '--exactOptionalPropertyTypes',
    '--noUncheckedIndexedAccess',
  ];
  const target = [
    '--target',
    'es2024',
    '--lib',
    'es2024,esnext.disposable,esnext.iterator,dom',
    '--module',
    'nodenext',
    '--types',
    types.join(','),
  ];
  const { stdout } = spawnSync(
    process.execPath,
    [compiler, '--ignoreConfig', '--noEmit', ...strictness, ...target, 'user.ts'],
    {
      cwd: project,
      encoding: 'utf8',
    },
  );
  const lines = stdout
    .split('\n')
    .filter((line) => / error TS\d+/.test(line) || line.startsWith('error TS'));
  return lines.filter(
    (line) =>
      line.startsWith('user.ts') ||
      line.startsWith('error') ||
      line.includes('node_modules/adjutant/'),
  );
}

const uses = `
import type { RunResult } from 'adjutant';
import { ledgerStory, matchers, setupMatchers } from 'adjutant/testing';
declare const result: RunResult;
expect(result).toHaveToolCall('add', { a: expect.any(Number), b: expect.objectContaining({ c: 1 }) });
expect(result.session).not.toHaveState('session', 'x');
expect(result.session).toHaveState('session', 'x', expect.any(String));
expect(result.session.events).toHaveAssistantText(/hello/i);
expect(result.session.events).toHaveAssistantText(expect.stringMatching(/hello/));
expect(result).toHaveEvent({ type: 'tool_call', name: expect.any(String) });
expect(result).toHaveEvent({ text: 'Hello' });
expect(result).toHaveToolOrder(['a', 'b'], { exact: true });
expect(result).toHaveDecision({ component: 'loop_detector', why: expect.any(String) });
expect(result).toMatchLedger(['a', /b/, { type: 'tool_call', name: 'c' }], { exact: false });
expect(ledgerStory(result)).toBe('');
export const waited: Promise<void> = expect(Promise.resolve(result)).resolves.toHaveStatus('yielded');
export const done: void = expect(result).toHaveStatus('completed');
expect.extend(matchers);
setupMatchers(expect);
// @ts-expect-error: no such status
expect(result).toHaveStatus('complete');
// @ts-expect-error: no such member
expect(result).toHaveEvent({ type: 'tool_call', nam: 'x' });
// @ts-expect-error: no such type
expect(result).toHaveEvent({ type: 'tool_cal' });
// @ts-expect-error: no such option
expect(result).toHaveToolOrder(['a'], { exakt: true });
// @ts-expect-error: no such member of a decision
expect(result).toHaveDecision({ componant: 'limits' });
// @ts-expect-error: no name
expect(result).toHaveToolCall();
`;

test('with vitest alone', { timeout: 60_000 }, () => {
  const asymmetric = "\nexpect({ result }).toEqual({ result: expect.toHaveToolCall('add') });\n";
  expect(
    typeErrors(
      'vitest',
      ['vitest'],
      `import 'adjutant/testing/vitest';\nimport { expect } from 'vitest';${uses}${asymmetric}`,
    ),
  ).toEqual([]);
});

test('with @jest/globals alone', { timeout: 60_000 }, () => {
  expect(
    typeErrors(
      'globals',
      ['@jest/globals', 'expect'],
      `import 'adjutant/testing/jest';\nimport { expect } from '@jest/globals';${uses}`,
    ),
  ).toEqual([]);
});

test('with the global expect of @types/jest', { timeout: 60_000 }, () => {
  const packages = ['@types/jest', 'expect'];
  expect(
    typeErrors('types', packages, `import 'adjutant/testing/jest';${uses}`, ['node', 'jest']),
  ).toEqual([]);
});

test('without any runner, adjutant/testing asks for none', { timeout: 60_000 }, () => {
  const source =
    "import { ledgerStory, matchers } from 'adjutant/testing';\nexport const story: string " +
    '= ledgerStory([]);\nexport const names = Object.keys(matchers);\n';
  expect(typeErrors('none', [], source)).toEqual([]);
});

test('without the import there are no matchers, so that a forgotten one is seen by the compiler', {
  timeout: 60_000,
}, () => {
  const errors = typeErrors(
    'forgotten',
    ['vitest'],
    "import { expect } from 'vitest';\nexpect([]).toHaveToolCall('add');\n",
  );
  expect(errors).toHaveLength(1);
  expect(errors[0]).toContain("Property 'toHaveToolCall' does not exist");
});

test('the entries name declarations and modules that a build makes', () => {
  const { exports } = JSON.parse(
    readFileSync(join(root, 'packages/core/package.json'), 'utf8'),
  ) as { exports: Record<string, { types: string }> };
  for (const entry of ['./testing', './testing/vitest', './testing/jest']) {
    expect(readFileSync(join(folder, exports[entry]?.types ?? ''), 'utf8')).toContain('export');
  }
});
