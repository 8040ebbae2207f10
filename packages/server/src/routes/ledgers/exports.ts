import { exportLedger, ledgerFileText } from 'adjutant/replay';
import type { AddRoutes } from '../../http/parts.ts';
import { readReachable } from '../../http/reachable.ts';
import { addRoute, defineRoute } from '../../http/route.ts';
import { sessionPathSchema } from '../../schemas/common.ts';
import { exportQuerySchema, ledgerFileSchema } from '../../schemas/ledger-file.ts';
import { streamedJson } from '../../stream/streamed-json.ts';

const exportSession = defineRoute({
  method: 'get',
  path: '/v1/sessions/{session}/export',
  permission: 'read',
  operationId: 'exportSession',
  tag: 'Ledgers',
  summary: 'A session as a file, without its secrets',
  description:
    'The text of a ledger file, to be kept, read and replayed. Secrets are taken out wherever ' +
    'they stand, also those that only the code of the server knows. When a value that is to be ' +
    'taken out is also part of what holds the ledger together, nothing is given ' +
    '(`redaction_incomplete`).',
  params: sessionPathSchema,
  query: exportQuerySchema,
  answers: { 200: { description: 'The file', schema: ledgerFileSchema } },
});

/** Adds the route that gives a session as a file. */
export const addExportRoutes: AddRoutes = (api, { replays }) => {
  addRoute(api, exportSession, (input) =>
    readReachable(input, input.params.session, async ({ id }) => {
      const { app, principal, query, request } = input;
      const { redact: fields } = query;
      const text = await replays.answerInTurn(principal, request.signal, async () => {
        const session = await app.sessions.open({ id, observe: false });
        return ledgerFileText(await exportLedger(session, { redact: { fields } }));
      });
      return streamedJson(linesOf(text));
    }),
  );
};

/** A line has an event: to encode all of them at once would hold others up. */
function* linesOf(text: string): Generator<string, void, undefined> {
  for (let start = 0; start < text.length; ) {
    const end = text.indexOf('\n', start);
    const next = end < 0 ? text.length : end + 1;
    yield text.slice(start, next);
    start = next;
  }
}
