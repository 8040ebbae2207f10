import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { bench } from './run-cli.ts';
import { shop } from './shop.ts';

describe('what cannot be done is refused', () => {
  const hostile = {
    format: 'adjutant-ledger',
    version: 1,
    app: 'x',
    tenant: 'x',
    session: 'x',
    redaction: {},
    blobs: {},
    events: [{ seq: 1 }],
  };
  const modules: Readonly<Record<string, string>> = {
    'none.mjs': 'export const other = 1;',
    'wrong.mjs': 'export const app = { app: "x" };',
    'fails.mjs': 'export const app = () => { throw new Error("no port") };',
    'throws.mjs': 'throw new Error("no database\u001b[2J")',
    'throws-text.mjs': 'throw "no error"',
    'syntax.mjs': 'export const = 1;',
    'broken.ts': 'const a = 1;\nexpor const b = 2;',
    'imports.ts': 'import "./broken.ts";\nexport const app = 1;',
    'missing.mjs': 'import "nobody-has-this-package";',
    'hostile.json': JSON.stringify(hostile),
    'later.json': JSON.stringify({ ...hostile, version: 99 }),
    'text.json': 'no JSON',
  };

  test.for<[string[], string]>([
    [['replay', 'incident', '--config', 'gone.ts'], 'gone.ts does not exist.'],
    [
      ['replay', 'incident', '--config', 'none.mjs'],
      'none.mjs exports no app (but other). It must export a runtime as `app` or by default',
    ],
    [
      ['replay', 'incident', '--config', 'wrong.mjs'],
      'wrong.mjs exports an `app` that is not a runtime.',
    ],
    [
      ['replay', 'incident', '--config', 'fails.mjs'],
      'fails.mjs exports an `app` that cannot be made: Error: no port (fails.mjs:1). Mend it there,',
    ],
    [
      ['replay', 'incident', '--config', 'throws.mjs'],
      'throws.mjs cannot be loaded: Error: no database\\u001b[2J (throws.mjs:1). Mend it there,',
    ],
    [
      ['replay', 'incident', '--config', 'throws-text.mjs'],
      'throws-text.mjs cannot be loaded: it throws "no error", which is not an error.',
    ],
    [
      ['export', 'incident', '--config', 'syntax.mjs'],
      'syntax.mjs cannot be loaded: SyntaxError: ',
    ],
    [['export', 'incident', '--config', 'imports.ts'], 'broken.ts:2).'],
    [
      ['diff', 'a', 'b', '--config', 'missing.mjs'],
      'missing.mjs cannot be loaded: Error: Cannot find package',
    ],
    [['replay', 'nobody'], 'There are no sessions yet.'],
    [['replay', 'gone.json'], 'There is no file '],
    [
      ['replay', 'hostile.json'],
      'hostile.json cannot be read as a ledger file: the "fields" of its "redaction"',
    ],
    [['replay', 'later.json'], 'later.json was written by a later version of Adjutant'],
    [
      ['diff', 'text.json', 'text.json'],
      'text.json cannot be read as a ledger file: it is not JSON',
    ],
    [['replay', 'text.json', '--until', '0'], 'It must be 1 or more.'],
    [['replay', 'text.json', '--root', 'gone'], 'cannot be read as a ledger file'],
    [['export', 'x', '--json'], '--json says what was written to a file: name the file with -o.'],
    [['export', 'x', '--redact-pattern', '('], '--redact-pattern (: Invalid regular expression'],
    [['export', 'x', '--redact', ''], 'It is empty.'],
    [['diff'], "missing required argument 'a'"],
  ])('%j', async ([args, message]) => {
    const { run, folder } = bench();
    for (const [name, text] of Object.entries(modules)) writeFileSync(join(folder, name), text);
    const { code, stdout, stderr } = await run(args, { cwd: folder });
    expect({ code, stdout }).toEqual({
      code: 2,
      stdout: expect.stringMatching(/^(?:\{"type":"error".*\}\n)?$/),
    });
    expect(stderr).toContain(message);
    expect(stderr).not.toContain('\u001b[2J');
  });

  test.for<[string[], string]>([
    [
      ['replay', 'incident', '--model', 'rehearsal'],
      '--model is for the agent of the command line',
    ],
    [['replay', 'incident', '--until', '99'], '--until 99: the record has only '],
    [['replay', 'incident', '--root', '.'], '--root is for the agent of the command line'],
    [
      ['export', 'incident', '--app', 'other'],
      '--app other: adjutant.config.ts exports the app "shop".',
    ],
    [['export', 'incident', '--redact', 'a..b'], '--redact must be a list of names of keys'],
    [
      ['export', 'incident', '--redact-pattern', '(a+)+'],
      '--redact-pattern has /(a+)+/, which may take for ever',
    ],
    [
      ['export', 'incident', '-o', '/nowhere/at/all.json'],
      '-o /nowhere/at/all.json cannot be written: ENOENT',
    ],
    [['replay', 'nobody'], 'There is no session "nobody" of the app "shop".'],
  ])('with the app of a user: %j', async ([args, message]) => {
    const { run } = await shop();
    expect(await run(args)).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining(message),
    });
  });
});
