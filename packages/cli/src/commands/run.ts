import { openAgentApp, rememberAskBefore } from '../app.ts';
import { UsageError } from '../failure.ts';
import { isRemote } from '../remote/open-client.ts';
import { carryOut, type RunContext } from './carry-out.ts';

/** `adjutant run "goal"` */
export async function runGoal(
  context: RunContext,
  goal: string,
  sessionId: string | undefined,
): Promise<number> {
  if (goal.trim() === '')
    throw new UsageError({
      reason: 'The goal is missing. Say what is to be done: adjutant run "List the files here"',
    });
  if (isRemote(context.options)) {
    const { runRemotely } = await import('../remote/remote-run.ts');
    return runRemotely({ ...context, options: context.options }, goal, sessionId);
  }
  const { app, agent, announceStandIn } = await openAgentApp(context.host, context.options);
  try {
    const session = await app.sessions.open(sessionId === undefined ? {} : { id: sessionId });
    await rememberAskBefore(session, context.options);
    announceStandIn();
    return await carryOut(context, session, (options) =>
      app.run(agent, { ...options, input: goal, session }),
    );
  } finally {
    await app.close().catch(() => undefined);
  }
}
