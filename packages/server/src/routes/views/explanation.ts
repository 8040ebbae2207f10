import type { Event } from 'adjutant';
import { explainTo } from 'adjutant/views';
import type { AddRoutes } from '../../http/parts.ts';
import { RequestRefusedError } from '../../http/problem.ts';
import { readReachable } from '../../http/reachable.ts';
import { addRoute, defineRoute } from '../../http/route.ts';
import { sessionPathSchema } from '../../schemas/common.ts';
import { explanationQuerySchema, explanationSchema } from '../../schemas/view.ts';
import { isRoot, runOf } from '../../stream/run-state.ts';
import { listed, streamedJson, writtenInTurns } from '../../stream/streamed-json.ts';
import { type OpenedSession, openedAt } from './opened.ts';
import { noRun } from './tree.ts';

const getExplanation = defineRoute({
  method: 'get',
  path: '/v1/sessions/{session}/explanation',
  permission: 'read',
  operationId: 'getExplanation',
  tag: 'Ledgers',
  summary: 'A run explained to a reader, from its ledger and without a model',
  params: sessionPathSchema,
  query: explanationQuerySchema,
  answers: { 200: { description: 'The explanation', schema: explanationSchema } },
});

type Reader = 'user' | 'developer' | 'auditor';

/** Adds the route of explanations. */
export const addExplanationRoutes: AddRoutes = (api, { replays }) => {
  addRoute(api, getExplanation, (input) =>
    readReachable(input, input.params.session, ({ id }) => {
      const { app, principal, query, request } = input;
      return replays.answerInTurn(principal, request.signal, async () => {
        const opened = await openedAt(app, id, query.at);
        return explained(opened, runIn(opened.events, query.run), query.for);
      });
    }),
  );
};

/**
 * Returns the id of a run that has begun.
 * @param run @default the run that has begun last
 * @throws RequestRefusedError `run_not_found` (404)
 */
function runIn(events: readonly Event[], run: string | undefined): string {
  const isMeant = ({ type, invocationId = '' }: Event): boolean =>
    type === 'invocation_start' &&
    isRoot(invocationId) &&
    (run === undefined || invocationId === run);
  const found = events.findLast(isMeant);
  if (found !== undefined) return runOf(found.invocationId ?? '');
  if (run !== undefined) throw noRun(run);
  throw new RequestRefusedError(
    404,
    'run_not_found',
    'No run has begun in this session by that event.',
  );
}

async function explained(
  { session, at }: OpenedSession,
  run: string,
  reader: Reader,
): Promise<Response> {
  const which = { run, upTo: at };
  const head = `${JSON.stringify({ for: reader, run, at }).slice(0, -1)},`;
  switch (reader) {
    case 'user':
      return streamedJson([`${head}"text":${JSON.stringify(explainTo('user', session, which))}}`]);
    case 'developer': {
      const explanation = JSON.stringify(explainTo('developer', session, which));
      return streamedJson([`${head}"explanation":${explanation}}`]);
    }
    default: {
      const trace = await writtenInTurns(explainTo('auditor', session, which));
      return streamedJson(listed(`${head}"trace":`, trace, '}'));
    }
  }
}
