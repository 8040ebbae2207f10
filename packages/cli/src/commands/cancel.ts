import { assistantName } from '../agent.ts';
import { existingSession, openExistingLedgers, type StoreOptions } from '../app.ts';
import { exitCodes, UsageError } from '../failure.ts';
import type { Host } from '../host.ts';
import { holderNow, openRunOf, whyNotHere } from '../open-run.ts';
import { jsonLine } from '../output/json-output.ts';
import { isRemote, type ServerFlags } from '../remote/open-client.ts';

export interface CancelOptions extends StoreOptions, ServerFlags {
  readonly reason?: string;
  readonly json?: boolean;
}

/** `adjutant cancel <session>`: ends the run that the session has open, whoever works on it. */
export async function cancelSession(host: Host, id: string, given: CancelOptions): Promise<number> {
  if (isRemote(given)) {
    const { cancelRemotely } = await import('../remote/remote-cancel.ts');
    return cancelRemotely(host, id, given);
  }
  const { reason, ...options } = given;
  const app = openExistingLedgers(host, options);
  try {
    const session = await existingSession(app, id, options);
    if (openRunOf(session) === undefined) throw nothingToCancel(id);
    await app.cancel(id, reason === undefined ? {} : { reason });
    const why = whyNotHere(session, assistantName);
    const holder = await holderNow(session);
    if (holder !== undefined)
      return sayCancelled(
        host,
        options,
        id,
        'posted',
        `${holder} works on session "${id}" and cancels it.`,
      );
    if (why !== undefined)
      return sayCancelled(
        host,
        options,
        id,
        'posted',
        `Session "${id}" is cancelled as soon as its program continues it: ${why}.`,
      );
    const { status } = await app.advance(session);
    if (status !== 'cancelled') throw nothingToCancel(id);
    return sayCancelled(host, options, id, status, `The run of session "${id}" is cancelled.`);
  } finally {
    await app.close().catch(() => undefined);
  }
}

export function nothingToCancel(id: string): UsageError {
  return new UsageError({ reason: `Session "${id}" has no run to cancel.` });
}

export function sayCancelled(
  host: Host,
  { json }: CancelOptions,
  session: string,
  status: 'posted' | 'cancelled',
  text: string,
): number {
  host.stdout.write(json ? jsonLine({ type: 'cancel', session, status }) : `${text}\n`);
  return exitCodes.ok;
}
