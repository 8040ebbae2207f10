import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { replaceReferences } from '../ledger/blobs/blob.ts';
import { agent } from '../runnables/agent.ts';
import { runtime } from '../runtime.ts';
import { scriptedModel } from '../testing/kit/scripted-model.ts';
import { exportLedger } from './export-ledger.ts';
import { ledgerFileText } from './ledger-file.ts';
import { parseLedgerFile, readLedgerFile } from './read-ledger-file.ts';
import { writeLedgerFile } from './write-ledger-file.ts';

async function recorded(answer = 'Hello') {
  const clerk = agent({ name: 'clerk', model: scriptedModel([{ text: answer }]) });
  const { session } = await runtime({ app: 'shop', tenant: 'north' }).run(clerk, {
    input: 'Hi',
    session: 'monday',
  });
  return session;
}

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'adjutant-ledger-file-'));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  return path;
}

/** Something that has been read of a file, to be changed. */
type Loose = Record<string, unknown> & {
  events: Record<string, unknown>[];
  redaction: Record<string, unknown>;
};

function set(target: Record<string, unknown> | undefined, key: string, value: unknown): void {
  Object.assign(target ?? {}, { [key]: value });
}

async function loose(change: (file: Loose) => void): Promise<string> {
  const file = JSON.parse(ledgerFileText(await exportLedger(await recorded()))) as Loose;
  change(file);
  return JSON.stringify(file);
}

describe('a ledger file', () => {
  test('holds what the session holds, an event on each line', async () => {
    const session = await recorded('y'.repeat(100_000));
    const path = join(await folder(), 'monday.ledger.json');
    await writeLedgerFile(path, await exportLedger(session));
    const file = await readLedgerFile(path);
    expect(file).toMatchObject({
      format: 'adjutant-ledger',
      version: 1,
      app: 'shop',
      tenant: 'north',
      session: 'monday',
    });
    // A file has addresses of its own: those of a store are made with a secret of the store.
    const whole = file.events.map((event) =>
      replaceReferences(event, ({ $blob }) => file.blobs[$blob]),
    );
    expect(whole).toEqual(session.events.map((event) => session.ledger.whole(event)));
    expect(Object.values(file.blobs)).toEqual(Object.values(session.ledger.blobs.all()));
    expect(Object.isFrozen(file.blobs) && Object.isFrozen(file.events[0])).toBe(true);
    const lines = (await readFile(path, 'utf8')).split('\n').map((line) => line.replace(/,$/, ''));
    for (const event of file.events) expect(lines).toContain(JSON.stringify(event));
    expect(await readdir(join(path, '..'))).toEqual(['monday.ledger.json']);
  });

  test('takes the place of the one before only as a whole', async () => {
    const path = join(await folder(), 'monday.json');
    await writeFile(path, 'before');
    await expect(writeLedgerFile(path, { events: [{ n: 1n }] } as never)).rejects.toThrow();
    expect(await readFile(path, 'utf8')).toBe('before');
    await writeLedgerFile(path, await exportLedger(await recorded()));
    expect(parseLedgerFile(await readFile(path, 'utf8')).session).toBe('monday');
    await expect(
      writeLedgerFile(join(path, 'no-folder'), await exportLedger(await recorded())),
    ).rejects.toMatchObject({ code: 'ENOTDIR' });
  });

  test(
    'shows what terminals obey and what turns the direction of writing, and is the same when ' +
      'it is read',
    async () => {
      const session = await recorded('a\u009b2J b\u202e c\u2028 d\u007f e\u0000 f\ufeff ü 漢 😀');
      const text = ledgerFileText(await exportLedger(session));
      expect(text).not.toMatch(/\p{Cc}(?<!\n)|\p{Cf}|\p{Zl}/u);
      expect(text).toContain('ü 漢 😀');
      expect(parseLedgerFile(text).events).toEqual(session.events);
    },
  );

  test('of a session without events is empty', async () => {
    const file = await exportLedger(await runtime({ app: 'shop' }).sessions.open({ id: 'empty' }));
    expect(parseLedgerFile(ledgerFileText(file))).toEqual(file);
    expect(file.events).toEqual([]);
  });

  test('can be exported again from what was read of it', async () => {
    const file = await exportLedger(await recorded('I am ann@example.com'));
    const again = await exportLedger(parseLedgerFile(ledgerFileText(file)), {
      redact: { patterns: [/\S+@\S+/] },
    });
    expect(ledgerFileText(again)).toContain('I am [redacted 1]');
  });
});

describe('what is no ledger file is refused with what is wrong', () => {
  const invalid: readonly (readonly [string, (file: Loose) => void])[] = [
    ['its "format" is not "adjutant-ledger"', (file) => set(file, 'format', 'other')],
    ['its "version" is not a whole number from 1', (file) => set(file, 'version', '1')],
    ['its "app" is not a text', (file) => set(file, 'app', '')],
    ['its "tenant" is not a text', (file) => void delete file['tenant']],
    [
      'its "session" is not a text of 1 to 1000 characters',
      (file) => set(file, 'session', 'x'.repeat(1_001)),
    ],
    ['its "redaction" is not an object', (file) => void Object.assign(file, { redaction: null })],
    ['the "fields" of its "redaction"', ({ redaction }) => set(redaction, 'fields', [1])],
    [
      'one of the fields that it redacts is not',
      ({ redaction }) => set(redaction, 'fields', ['a..b']),
    ],
    ['the "patterns" of its "redaction"', ({ redaction }) => set(redaction, 'patterns', ['x'])],
    [
      'one of the patterns that it redacts is no regular expression',
      ({ redaction }) => set(redaction, 'patterns', [{ source: '(', flags: '' }]),
    ],
    [
      'one of the patterns that it redacts may take for ever',
      ({ redaction }) => set(redaction, 'patterns', [{ source: '(a+)+$', flags: '' }]),
    ],
    [
      'one of the patterns that it redacts has more than',
      ({ redaction }) => set(redaction, 'patterns', [{ source: 'x'.repeat(5_000), flags: '' }]),
    ],
    [
      'it has more than 1000 rules',
      ({ redaction }) =>
        set(
          redaction,
          'fields',
          Array.from({ length: 1_001 }, (_, i) => `f${i}`),
        ),
    ],
    [
      'the "replacements" of its "redaction"',
      ({ redaction }) => set(redaction, 'replacements', ['']),
    ],
    [
      'are not a list of short texts',
      ({ redaction }) => set(redaction, 'replacements', ['x'.repeat(501)]),
    ],
    ['"removed" of its "redaction"', ({ redaction }) => set(redaction, 'removed', { x: 'many' })],
    ['its "blobs" are not an object', (file) => set(file, 'blobs', [])],
    ['its "events" are not a list', (file) => void Object.assign(file, { events: {} })],
    ['event 2 is not an object', ({ events }) => void events.splice(1, 1, null as never)],
    [
      'event 2 has the seq 3: events are numbered from 1, without gaps',
      ({ events }) => void events.splice(1, 1),
    ],
    ['event 1 has no id', ({ events }) => void delete events[0]?.['id']],
    [
      'event 2 has the id of an event before it',
      ({ events }) => set(events[1], 'id', events[0]?.['id']),
    ],
    ['the time "at" of event 1', ({ events }) => set(events[0], 'at', 'noon')],
    ['event 1 has no type', ({ events }) => set(events[0], 'type', 7)],
    ['event 1 has no version', ({ events }) => set(events[0], 'v', 0)],
    [
      'event 1 is none that a ledger can hold: `text` must be a string',
      ({ events }) => set(events[0], 'text', 7),
    ],
    [
      'event 2 is none that a ledger can hold: `by` is missing',
      ({ events }) => void delete events[1]?.['by'],
    ],
  ];
  test.for(invalid)('%s', async ([reason, change]) => {
    const text = await loose(change);
    expect(() => parseLedgerFile(text, 'x.json')).toThrow(
      expect.objectContaining({
        code: 'invalid_ledger_file',
        message: expect.stringContaining(`x.json cannot be read as a ledger file: `),
      }),
    );
    expect(() => parseLedgerFile(text, 'x.json')).toThrow(reason);
  });

  test.for<[string, string]>([
    ['', 'it is not JSON'],
    ['{"format":', 'it is not JSON'],
    ['[]', 'it is not a JSON object'],
    ['null', 'it is not a JSON object'],
    ['['.repeat(1_000_000), 'it is nested more than 500 levels deep'],
    [`{"a":${'{"a":'.repeat(600)}1${'}'.repeat(600)}}`, 'it is nested more than 500 levels deep'],
    [`"${'['.repeat(600)}"`, 'it is not a JSON object'],
    [`"\\"${'['.repeat(600)}"`, 'it is not a JSON object'],
  ])('%.40s', ([text, reason]) => {
    expect(() => parseLedgerFile(text)).toThrow(reason);
  });

  test('a key named __proto__ is a key like any other', async () => {
    const text = (await loose(() => undefined)).replace(
      '"blobs":{}',
      '"blobs":{"__proto__":{"polluted":true}}',
    );
    const { blobs } = parseLedgerFile(text);
    expect(Object.keys(blobs)).toEqual(['__proto__']);
    expect({}).not.toHaveProperty('polluted');
  });

  test('what comes of a later version says so', async () => {
    const later = [
      await loose((file) => set(file, 'version', 2)),
      await loose(({ events }) => set(events[0], 'v', 2)),
      await loose(({ events }) => set(events[0], 'type', 'dream')),
      await loose(({ events }) => set(events[0], 'type', 'toString')),
    ];
    const reasons = [
      'its format has version 2',
      'event 1 has version 2 of the type "user"',
      'event 1 has the type "dream"',
      'the type "toString"',
    ];
    for (const [i, text] of later.entries()) {
      expect(() => parseLedgerFile(text)).toThrow(
        expect.objectContaining({ code: 'ledger_file_too_new' }),
      );
      expect(() => parseLedgerFile(text)).toThrow(reasons[i]);
    }
  });

  test('a file that is missing, a folder, too large or not text', async () => {
    const path = await folder();
    const refusal = (reason: string) => ({
      code: 'invalid_ledger_file',
      message: expect.stringContaining(reason),
    });
    await expect(readLedgerFile(join(path, 'none.json'))).rejects.toMatchObject(
      refusal('there is no such file'),
    );
    await expect(readLedgerFile(path)).rejects.toMatchObject(refusal('it is not a file'));
    await writeFile(join(path, 'x.json'), Buffer.from([0x7b, 0xff, 0xfe, 0x7d]));
    await expect(readLedgerFile(join(path, 'x.json'))).rejects.toMatchObject(
      refusal('it is not UTF-8 text'),
    );
    await expect(readLedgerFile(join(path, 'x.json'), { maxBytes: 3 })).rejects.toMatchObject(
      refusal('it has 4 bytes, and at most 3 are read'),
    );
    await expect(readLedgerFile(join(path, 'x.json'), { maxBytes: 0 })).rejects.toMatchObject({
      code: 'invalid_option',
    });
    await expect(readLedgerFile(join(path, 'x.json'), { max: 1 } as never)).rejects.toMatchObject({
      code: 'invalid_option',
    });
  });
});
