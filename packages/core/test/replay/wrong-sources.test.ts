import { agent, runtime } from 'adjutant';
import {
  diffLedgers,
  exportLedger,
  ledgerFileText,
  recordedLedgerOf,
  replay,
  replayFile,
  writeLedgerFile,
} from 'adjutant/replay';
import { scriptedModel } from 'adjutant/testing';
import { expect, test } from 'vitest';

const clerk = agent({ name: 'clerk', model: scriptedModel(() => ({ text: 'Hello' })) });
const app = runtime({ app: 'shop', runnables: [clerk] });
const { session } = await app.run(clerk, 'Hi');
const file = await exportLedger(session);

/** A value that a caller may give by mistake, where types do not help. */
const wrong = (value: unknown) => value as never;

test.for<[name: string, call: () => unknown, message: RegExp]>([
  [
    'the id of a session',
    () => replay(wrong('customer-17'), app),
    /replay\(\).* needs a session, or a ledger.*not "customer-17"/,
  ],
  [
    'a session that was not awaited',
    () => replay(wrong(Promise.resolve(session)), app),
    /a promise: await it first/,
  ],
  ['nothing', () => replay(wrong(undefined), app), /not undefined/],
  [
    'an agent for the app',
    () => replay(session, wrong(clerk)),
    /replay\(\).* needs the app that has today's code/,
  ],
  [
    'no app',
    () => replay(session, wrong(undefined)),
    /runtime\(\{ app, runnables: \[\.\.\.\] \}\)/,
  ],
  [
    'an event that there is not',
    () => replay(session, app, { until: 99 }),
    /`until` is 99, and the record has \d events/,
  ],
  [
    'an agent for the app of a file',
    () => replayFile(file, wrong(clerk)),
    /replayFile\(\).* needs the app/,
  ],
  [
    'a ledger for a file',
    () => replayFile(wrong(recordedLedgerOf(session)), app),
    /replayFile\(\).* needs a ledger file, as exportLedger\(\)/,
  ],
  [
    'the id of a session to export',
    () => exportLedger(wrong('customer-17')),
    /exportLedger\(\).* needs a session/,
  ],
  [
    'a path to compare',
    () => diffLedgers(wrong('a.json'), session),
    /diffLedgers\(\).* needs a session/,
  ],
  [
    'a session to write',
    () => writeLedgerFile('never.json', wrong(session)),
    /writeLedgerFile\(\).* needs a ledger file/,
  ],
  [
    'an export that was not awaited',
    () => writeLedgerFile('never.json', wrong(exportLedger(session))),
    /a promise: await it first/,
  ],
  [
    'a session as text',
    () => ledgerFileText(wrong(session)),
    /ledgerFileText\(\).* needs a ledger file/,
  ],
])('%s is refused in words', async ([, call, message]) => {
  await expect(async () => call()).rejects.toMatchObject({
    code: 'invalid_option',
    message: expect.stringMatching(message),
  });
});
