import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { matchers, setupMatchers } from 'adjutant/testing';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../../../../', import.meta.url));

test(
  'setupMatchers finds the expect of vitest, which is no global, and may be ' + 'called again',
  () => {
    expect((globalThis as { expect?: unknown }).expect).toBeUndefined();
    setupMatchers();
    setupMatchers();
    (expect([{ type: 'cancel' }]) as { toHaveEvent(event: object): void }).toHaveEvent({
      type: 'cancel',
    });
  },
);

test('setupMatchers and expect.extend give the same to an expect of one’s own', () => {
  const added: object[] = [];
  setupMatchers({ extend: (given) => void added.push(given) });
  expect(added).toEqual([{ ...matchers }]);
  expect(Object.keys(matchers)).toHaveLength(8);
});

test.each([[null], [{}], [() => undefined], ['expect']])('setupMatchers refuses %s', (wrong) => {
  const setUp = () => setupMatchers(wrong as never);
  expect(setUp).toThrow(
    expect.objectContaining({
      code: 'invalid_option',
      message: expect.stringContaining('the `expect` of vitest or jest'),
    }),
  );
});

/** Runs a program with plain Node, away from every test runner that brings an `expect`. */
function runNode(
  program: string,
  ...flags: readonly string[]
): { readonly output: string; readonly status: number | null } {
  const options = ['--no-warnings', '--input-type=module', ...flags, '--eval', program];
  const { stdout, stderr, status } = spawnSync(process.execPath, options, {
    cwd: `${root}packages/core`,
    encoding: 'utf8',
  });
  return { output: stdout + stderr, status };
}

test('without a test runner, setupMatchers says so', () => {
  const program = `import { setupMatchers } from 'adjutant/testing';
    try { setupMatchers(); } catch (error) { console.log(error.code, error.message); }`;
  const { output } = runNode(program);
  expect(output).toContain(
    'expect_not_found setupMatchers() found no `expect` (it looked for the global ' +
      '`expect`, vitest, `@jest/globals`).',
  );
});

test(
  'without a test runner, ledgerStory serves node:test, and the package expect takes the ' +
    'matchers',
  () => {
    const program = `import assert from 'node:assert/strict';
    import { test } from 'node:test';
    import { expect } from 'expect';
    import { agent, run } from 'adjutant';
    import { ledgerStory, scriptedModel, setupMatchers } from 'adjutant/testing';
    setupMatchers(expect);
    test('greets', async () => {
      const result = await run(agent({ name: 'host', model: scriptedModel([{ text: 'Welcome' }]) }), 'Hello');
      assert.equal(ledgerStory(result), ['user: Hello', 'agent host starts', '  host: Welcome', '  host ends'].join('\\n'));
      expect(result).toHaveAssistantText('Welcome');
      assert.throws(() => expect(result).toHaveToolCall('greet'), /No tool was called/);
      await assert.rejects(async () => expect(result).not.toHaveStatus('completed'), /Received status/);
    });`;
    const { output, status } = runNode(program);
    expect(output).toMatch(/pass 1/);
    expect(status).toBe(0);
  },
);

test('importing adjutant/testing loads no test runner', () => {
  const { output } = runNode(`import { registerHooks } from 'node:module';
    const loaded = [];
    registerHooks({ resolve: (specifier, context, next) => (loaded.push(specifier), next(specifier, context)) });
    await import('adjutant/testing');
    console.log(loaded.filter((name) => /vitest|jest|^expect$/.test(name)).length, loaded.length > 20);`);
  expect(output.trim()).toBe('0 true');
});
