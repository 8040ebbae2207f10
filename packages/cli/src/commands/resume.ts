import { isAdjutantError, type Session } from 'adjutant';
import { existingSession, openAgentApp } from '../app.ts';
import { UsageError } from '../failure.ts';
import { notice } from '../output/notice.ts';
import { isRemote } from '../remote/open-client.ts';
import { readableStorePath } from '../store-location.ts';
import { carryOut, commandLine, type RunContext } from './carry-out.ts';

/** `adjutant resume <session>`: continues the run that the session has open. */
export async function resumeSession(context: RunContext, id: string): Promise<number> {
  const { host, options } = context;
  if (isRemote(options)) {
    const { resumeRemotely } = await import('../remote/remote-run.ts');
    return resumeRemotely({ ...context, options }, id);
  }
  if (readableStorePath(host, options.store) === undefined)
    throw new UsageError({ reason: 'There are no sessions yet.' });
  const { app, model, announceStandIn } = await openAgentApp(host, options);
  try {
    const session = await existingSession(app, id, options);
    announceStandIn();
    const before = lastModel(session);
    const now = `${model.provider}:${model.modelId}`;
    if (before !== undefined && before !== now)
      notice(
        host,
        `This session used the model ${before}; it goes on with ${now}. To choose another ` +
          'one, use --model.',
      );
    return await carryOut(context, session, (given) => app.resume(session, given));
  } catch (error) {
    if (isAdjutantError(error, 'no_open_run')) {
      throw new UsageError({
        reason:
          `Session "${id}" has no run to continue. To go on with it: ` +
          `${commandLine(['run', '…', '--session', id], options)}`,
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
