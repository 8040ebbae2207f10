import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../../../../', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'adjutant-jest-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface JestReport {
  readonly testResults: readonly {
    readonly message: string;
    readonly assertionResults: readonly {
      readonly title: string;
      readonly status: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
}

/**
 * Outcomes of the tests of a fixture, by title: `passed`, or the message of the failure without its
 * stack.
 */
function runJest(fixture: string, ...flags: readonly string[]): ReadonlyMap<string, string> {
  const outputFile = join(folder, `${fixture}.json`);
  const { stderr } = spawnSync(
    process.execPath,
    [
      ...['--experimental-vm-modules', '--no-warnings', 'node_modules/jest/bin/jest.js'],
      ...[
        '--config',
        'packages/core/test/testing/jest/jest.config.json',
        '--ci',
        '--cacheDirectory',
        join(folder, 'cache'),
      ],
      ...['--json', '--outputFile', outputFile, ...flags, fixture],
    ],
    { cwd: root, encoding: 'utf8', env: { ...process.env, FORCE_COLOR: '0', NODE_OPTIONS: '' } },
  );
  let report: JestReport;
  try {
    report = JSON.parse(readFileSync(outputFile, 'utf8')) as JestReport;
  } catch {
    throw new Error(`jest did not report: ${stderr}`);
  }
  const [file] = report.testResults;
  if (file === undefined || file.assertionResults.length === 0)
    throw new Error(`jest ran no test: ${file?.message ?? stderr}`);
  return new Map(
    file.assertionResults.map(({ title, status, failureMessages }) => {
      const [message = ''] = failureMessages.map(
        (text) => stripVTControlCharacters(text).split(/\n\s+at /)[0] as string,
      );
      return [title, status === 'failed' ? message : status];
    }),
  );
}

let outcomes: ReadonlyMap<string, string>;
beforeAll(() => {
  outcomes = runJest('matchers.jest.ts');
}, 120_000);

test('under jest, the matchers hold, also negated, asymmetric and on promises', () => {
  expect(outcomes.get('passes')).toBe('passed');
  expect(outcomes.get('takes a run that is under way')).toBe('passed');
});

test('under jest, each matcher fails with an account of what is there instead', () => {
  const failures = [...outcomes].filter(([title]) => title.startsWith('fails: '));
  expect(failures).toHaveLength(9);
  expect(
    failures.map(([title, message]) => `# ${title}\n${message}`).join('\n\n'),
  ).toMatchInlineSnapshot(`
    "# fails: toHaveAssistantText
    Error: expect(run).toHaveAssistantText(text)

    Expected text: "difference"
    What was said:
      1. clerk: The sum is 4.

    # fails: toHaveToolCall
    Error: expect(session).toHaveToolCall(name, args)

    Expected call: add({ a: 2, b: Any<String> })
    Calls of add:
      1. add({ a: 2, b: 2 })

    Difference:

    - Expected
    + Received

      Object {
        "a": 2,
    -   "b": Any<String>,
    +   "b": 2,
      }

    # fails: toHaveToolOrder
    Error: expect(events).toHaveToolOrder(names)

    Expected order: add, subtract
    Calls:
      1. add
    subtract was never called.

    # fails: toHaveState
    Error: expect(session).toHaveState(scope, key, value)

    Expected session state sum: 4
    Received session state sum: no value

    The session state is empty.

    # fails: toHaveEvent
    Error: expect(run).toHaveEvent(event)

    Expected event: { type: 'tool_call', args: { a: 3 } }
    Events of type tool_call:
      1. seq 4 { args: { a: 2, b: 2 } }

    Difference to the nearest:

    - Expected
    + Received

      Object {
        "args": Object {
    -     "a": 3,
    +     "a": 2,
        },
        "type": "tool_call",
      }

    # fails: toHaveStatus
    Error: expect(run).not.toHaveStatus(status)

    Expected status: not "completed"
    Received status: "completed"

    # fails: toHaveDecision
    Error: expect(run).toHaveDecision(decision)

    Expected decision: { component: 'limits' }
    Nothing was decided.

    # fails: toMatchLedger
    Error: expect(run).toMatchLedger(story)

    - Expected
    + Received

      user: What is 2 + 2?
      agent clerk starts
    - clerk: 4
    +   clerk calls add({ a: 2, b: 2 })
    +     add gives 4
    +   clerk: The sum is 4.
    +   clerk ends

    The whole story, as it happened:

    user: What is 2 + 2?
    agent clerk starts
      clerk calls add({ a: 2, b: 2 })
        add gives 4
      clerk: The sum is 4.
      clerk ends

    # fails: what has no events
    InvalidMatcherUseError: toHaveToolCall() cannot be used like this: it needs a session, \`session.events\`, the result of a run or of \`runTest\`, or a recorded ledger, not an object with the members output."
  `);
});

test('under jest without globals, setupMatchers finds the expect of @jest/globals', {
  timeout: 120_000,
}, () => {
  expect(runJest('setup.jest.ts', '--injectGlobals=false')).toEqual(
    new Map([['finds expect by itself', 'passed']]),
  );
});

test('under jest with globals, setupMatchers finds the global expect', { timeout: 120_000 }, () => {
  expect(runJest('setup.jest.ts')).toEqual(new Map([['finds expect by itself', 'passed']]));
});
