import { isAdjutantError, type Session } from 'adjutant';
import { defined } from 'adjutant/text';
import { carryOut, commandLine, type RunContext } from '../actions/carry-out.ts';
import { existingSession, openAgentApp, rememberAskBefore } from '../app/app.ts';
import { assertKnown } from '../app/open-run.ts';
import { UsageError } from '../failure.ts';
import { readableStorePath } from '../host/store-location.ts';
import { inLane, laneWords } from '../output/lane-text.ts';
import { notice } from '../output/notice.ts';

/** Runs the agent of the command line on a goal. */
export async function runLocally(
  context: RunContext,
  goal: string,
  sessionId: string | undefined,
): Promise<number> {
  const { lane } = context.options;
  const { app, agent, announceStandIn } = await openAgentApp(context.host, context.options);
  try {
    const session = await app.sessions.open(defined({ id: sessionId }));
    await rememberAskBefore(session, context.options);
    announceStandIn();
    return await carryOut(context, session, (options) =>
      app.run(agent, { ...options, input: goal, session, ...defined({ lane }) }),
    );
  } finally {
    await app.close().catch(() => undefined);
  }
}

/** Continues the open run of a session with the agent of the command line. */
export async function resumeLocally(context: RunContext, id: string): Promise<number> {
  const { host, options } = context;
  const { lane } = options;
  if (readableStorePath(host, options.store) === undefined)
    throw new UsageError({ reason: 'There are no sessions yet.' });
  const { app, agent, model, announceStandIn } = await openAgentApp(host, options);
  try {
    const session = await existingSession(app, id, options);
    assertKnown(session, agent.name, lane);
    announceStandIn();
    const before = lastModel(session);
    const now = `${model.provider}:${model.modelId}`;
    if (before !== undefined && before !== now)
      notice(
        host,
        `This session used the model ${before}; it goes on with ${now}. To choose another ` +
          'one, use --model.',
      );
    return await carryOut(context, session, (given) =>
      app.resume(session, { ...given, ...defined({ lane }) }),
    );
  } catch (error) {
    if (isAdjutantError(error, 'no_open_run')) {
      throw new UsageError({
        reason:
          `Session "${id}" has no run to continue${inLane(lane)}. To go on with it: ` +
          `${commandLine(['run', '…', '--session', id, ...laneWords(lane)], options)}`,
      });
    }
    throw error;
  } finally {
    await app.close().catch(() => undefined);
  }
}

function lastModel(session: Session): string | undefined {
  const start = session.events.findLast((event) => event.type === 'model_start');
  return start?.model;
}
