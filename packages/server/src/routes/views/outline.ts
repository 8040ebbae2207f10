import { SeqOutOfRangeError } from 'adjutant/errors';
import { systemTurns } from 'adjutant/ports';
import type { AddRoutes } from '../../http/parts.ts';
import { readReachable } from '../../http/reachable.ts';
import { addRoute, defineRoute } from '../../http/route.ts';
import { type OutlinePage, SessionOutline } from '../../runs/session-outline.ts';
import { sessionPathSchema } from '../../schemas/common.ts';
import { outlineQuerySchema, outlineSchema } from '../../schemas/outline.ts';
import type { SessionAddress, SessionFolds } from '../../stream/replay/session-folds.ts';
import { streamedJson } from '../../stream/streamed-json.ts';

const getOutline = defineRoute({
  method: 'get',
  path: '/v1/sessions/{session}/outline',
  permission: 'read',
  operationId: 'getOutline',
  tag: 'Ledgers',
  summary: 'The events of a session in columns, without their bodies',
  description:
    'Time, type, invocation and agent of each event, as places in lists. Asking again with ' +
    '`next` gives what has come since, and the invocations that this belongs to.',
  params: sessionPathSchema,
  query: outlineQuerySchema,
  answers: { 200: { description: 'A part of the outline', schema: outlineSchema } },
});

/** Adds the route of outlines. */
export const addOutlineRoutes: AddRoutes = (api, { replays }) => {
  addRoute(api, getOutline, (input) =>
    readReachable(input, input.params.session, async ({ id }) => {
      const { app, principal, query, request } = input;
      const { after, limit } = query;
      const pieces = await replays.answerInTurn(principal, request.signal, async () => {
        const outline = await outlineOf(replays.folds, { app, session: id });
        if (after > outline.last) throw new SeqOutOfRangeError({ seq: after, last: outline.last });
        return written(outline.page(after, limit));
      });
      return streamedJson(pieces);
    }),
  );
};

/** The outline of a session with all that its ledger has now. */
export function outlineOf(folds: SessionFolds, address: SessionAddress): Promise<SessionOutline> {
  return folds.upToNow(address, 'outline', () => new SessionOutline());
}

/** Entries that are written at once. */
const entriesPerPiece = 4_096;

/** Written in pieces: a hundred thousand entries in one would hold others up. */
async function written({ columns, invocations, ...rest }: OutlinePage): Promise<readonly string[]> {
  const pieces = [`${JSON.stringify(rest).slice(0, -1)},"invocations":[`];
  await addList(pieces, invocations, (one) => JSON.stringify(one));
  pieces.push('],"columns":{');
  for (const [index, [name, values]] of Object.entries(columns).entries()) {
    pieces.push(`${index === 0 ? '' : ','}"${name}":[`);
    await addList(pieces, [...(values as Iterable<number>)], String);
    pieces.push(']');
  }
  pieces.push('}}');
  return pieces;
}

async function addList<Item>(
  pieces: string[],
  items: readonly Item[],
  text: (item: Item) => string,
): Promise<void> {
  for (let from = 0; from < items.length; from += entriesPerPiece) {
    const some = items.slice(from, from + entriesPerPiece).map(text);
    pieces.push(`${from === 0 ? '' : ','}${some.join(',')}`);
    await systemTurns.pass();
  }
}
