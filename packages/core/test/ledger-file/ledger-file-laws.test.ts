import { exportLedger, ledgerFileText, parseLedgerFile } from 'adjutant/replay';
import { runMermaid, runTree, snapshotAt } from 'adjutant/views';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { arbitraryLedger } from '../arbitrary-ledger.ts';

const place = { app: 'shop', tenant: 'default', session: 'any', blobs: {} };

test('a ledger without secrets comes out of its file as it went in', async () => {
  await fc.assert(
    fc.asyncProperty(arbitraryLedger(), async (events) => {
      const file = parseLedgerFile(ledgerFileText(await exportLedger({ ...place, events })));
      expect(file.events).toEqual(events);
      expect(file.redaction.removed).toEqual({});
    }),
    { numRuns: 50 },
  );
});

test(
  'with everything taken out that can be named it is still a ledger: it folds, and has the ' +
    'same shape',
  async () => {
    const fields = [
      'text',
      'value',
      'content',
      'name',
      'data',
      'message',
      'key',
      'args',
      'type',
      'status',
      'summary',
    ];
    await fc.assert(
      fc.asyncProperty(arbitraryLedger(), async (events) => {
        const file = parseLedgerFile(
          ledgerFileText(
            await exportLedger(
              { ...place, events },
              { redact: { fields, patterns: [/[a-z]+\d+/i] } },
            ),
          ),
        );
        expect(file.events.map(({ seq, id, type }) => [seq, id, type])).toEqual(
          events.map(({ seq, id, type }) => [seq, id, type]),
        );
        expect(shapeOf(runTree(file.events))).toEqual(shapeOf(runTree(events)));
        expect(runMermaid(file.events)).toContain('flowchart');
        expect(snapshotAt(file.events, file.events.length)).toMatchObject({ seq: events.length });
      }),
      { numRuns: 50 },
    );
  },
);

function shapeOf(nodes: ReturnType<typeof runTree>): unknown {
  return nodes.map(({ kind, status, children }) => [kind, status, shapeOf(children)]);
}
