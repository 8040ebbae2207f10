import type { Event, Runtime, Step } from 'adjutant';
import { diffLedgers, replay } from 'adjutant/replay';
import { defined } from 'adjutant/text';
import { isAllowed } from '../../access/principal.ts';
import type { AddRoutes } from '../../http/parts.ts';
import { RequestRefusedError } from '../../http/problem.ts';
import { readReachable } from '../../http/reachable.ts';
import { addRoute, defineRoute } from '../../http/route.ts';
import { sessionPathSchema } from '../../schemas/common.ts';
import {
  type DifferenceAnswer,
  differenceQuerySchema,
  differenceSchema,
  type ReplayAnswer,
  replayOptionsSchema,
  replaySchema,
} from '../../schemas/replay.ts';

const tag = 'Ledgers';

const replaySession = defineRoute({
  method: 'post',
  path: '/v1/sessions/{session}/replay',
  permission: 'read',
  operationId: 'replaySession',
  tag,
  summary: "Runs today's code against a recorded session",
  description:
    'Answers of models and results of tools come from the record: nothing is asked, and nothing ' +
    'is written. Hooks, renderers and steps that say `effects: false` run for real. A session ' +
    'with other steps is refused (`replay_runs_steps`), unless `runSteps` is set.',
  params: sessionPathSchema,
  body: replayOptionsSchema,
  isBodyOptional: true,
  answers: { 200: { description: 'What differs', schema: replaySchema } },
});

const compareSessions = defineRoute({
  method: 'get',
  path: '/v1/sessions/{session}/difference',
  permission: 'read',
  operationId: 'compareSessions',
  tag,
  summary: 'The first place at which two sessions differ',
  description:
    'Two runs of the same code, or a fork and its origin. Ids, times and the number of stops of ' +
    'a run do not count.',
  params: sessionPathSchema,
  query: differenceQuerySchema,
  answers: { 200: { description: 'The first difference', schema: differenceSchema } },
});

/** Adds the routes that compare a session with today's code, and with another session. */
export const addReplayRoutes: AddRoutes = (api, { replays }) => {
  addRoute(api, replaySession, (input) =>
    readReachable(input, input.params.session, async ({ id }) => {
      const { app, body, principal, request } = input;
      if (body.runSteps === true && !isAllowed(principal, 'operate'))
        throw new RequestRefusedError(
          403,
          'forbidden',
          'Running steps again needs the permission "operate", which none of your roles gives.',
          { permission: 'operate' },
        );
      const report = await replays.answerInTurn(principal, request.signal, async () => {
        const session = await app.sessions.open({ id, observe: false });
        if (body.runSteps !== true) assertNoSteps(app, session.events.slice(0, body.until));
        const { signal } = request;
        return replay(session, app, { signal, ...defined({ until: body.until }) });
      });
      const { divergence, events, undeclaredSteps } = report;
      const status: ReplayAnswer['status'] = divergence === undefined ? 'same' : 'diverged';
      const answer = { status, events, ...defined({ divergence }), undeclaredSteps };
      // JSON of the report, whose lists are read-only.
      return { status: 200, body: answer as unknown as ReplayAnswer };
    }),
  );
  addRoute(api, compareSessions, (input) =>
    readReachable(input, input.params.session, ({ id }) =>
      readReachable(input, input.query.with, async (other) => {
        const { app, principal, request } = input;
        const answer = await replays.answerInTurn(principal, request.signal, async () => {
          const first = await app.sessions.open({ id, observe: false });
          const second = await app.sessions.open({ id: other.id, observe: false });
          const difference = diffLedgers(first, second);
          return {
            shared: sharedPart(first.events, second.events),
            ...defined({ difference }),
          };
        });
        return { status: 200, body: answer as unknown as DifferenceAnswer };
      }),
    ),
  );
};

/** @throws RequestRefusedError `replay_runs_steps` (409) */
function assertNoSteps({ runnables }: Pick<Runtime, 'runnables'>, events: readonly Event[]): void {
  const recorded = new Set(
    events.flatMap((event) =>
      event.type === 'invocation_start' && event.kind === 'step' ? [event.name] : [],
    ),
  );
  const steps = runnables
    .filter(({ kind, name }) => kind === 'step' && recorded.has(name))
    .filter((step) => (step as Step).effects !== false)
    .map(({ name }) => name);
  if (steps.length === 0) return;
  throw new RequestRefusedError(
    409,
    'replay_runs_steps',
    `A replay would run the bodies of steps again, with what they do outside: ` +
      `${steps.join(', ')}. ` +
      'Say `effects: false` in those that do nothing outside by themselves, or set `runSteps`.',
    { steps },
  );
}

/** Returns the place of the last event that two ledgers share. */
function sharedPart(first: readonly Event[], second: readonly Event[]): number {
  let shared = 0;
  while (first[shared] !== undefined && first[shared]?.id === second[shared]?.id) shared++;
  return shared;
}
