import { aborted } from '../tools/failure-kinds.ts';
import type { Channel, SendContext, SendReceipt } from './channel.ts';
import { NotificationFailedError, refusedNotice } from './errors.ts';
import type { Notice, Recipient } from './notice.ts';

/** Finds an address of a person; nothing when there is none. */
export type FindAddress<Address> = (
  recipient: Recipient,
) => Address | undefined | Promise<Address | undefined>;

/** Makes a channel whose notices are checked before anything is sent. */
export function channelOf(
  name: string,
  idempotent: boolean,
  deliver: (notice: Notice, context: SendContext) => Promise<SendReceipt>,
): Channel {
  return Object.freeze({
    name,
    idempotent,
    send: async (notice: Notice, context: SendContext) => {
      const fault = faultOf(notice);
      if (fault !== undefined) throw refused(name, notice, 'invalid_notice', fault);
      if (context.signal.aborted) throw abortedBefore(name, notice);
      return deliver(notice, context);
    },
  });
}

/** Returns the error of an attempt that was aborted before it began. */
export function abortedBefore(channel: string, { id: notice }: Notice): NotificationFailedError {
  const kind = { ...aborted, effect: 'none' } as const;
  return new NotificationFailedError({ channel, notice, kind, reason: 'it was aborted before' });
}

/** Returns the error for a notice that cannot be sent as it is. */
export function refused(
  channel: string,
  notice: Notice,
  errorType: string,
  reason: string,
): NotificationFailedError {
  const kind = refusedNotice(errorType);
  return new NotificationFailedError({ channel, notice: String(notice?.id), kind, reason });
}

/**
 * Finds the address of the recipient.
 * @throws NotificationFailedError when there is none, or the search fails
 */
export async function addressOf<Address>(
  channel: string,
  notice: Notice,
  find: FindAddress<Address>,
): Promise<Address> {
  const { tenant, user } = notice;
  let found: Address | undefined;
  try {
    found = await find({ tenant, user });
  } catch (thrown) {
    // The message may hold what the function works with, so it is not shown.
    const name = thrown instanceof Error ? thrown.name : 'no error';
    throw new NotificationFailedError({
      ...{ channel, notice: notice.id },
      kind: { status: 'error_transient', errorType: 'address_not_found', effect: 'none' },
      reason: `the function that finds the address of the user threw (${name})`,
    });
  }
  if (found === undefined || found === null)
    throw refused(channel, notice, 'no_recipient', 'the user has no address there');
  return found;
}

/** Returns the fault of a notice, which may come out of an old ledger. */
function faultOf(notice: Notice): string | undefined {
  for (const member of ['id', 'tenant', 'user'] as const)
    if (typeof notice?.[member] !== 'string' || notice[member] === '')
      return `its \`${member}\` must be a string that is not empty`;
  for (const member of ['title', 'text'] as const)
    if (typeof notice[member] !== 'string') return `its \`${member}\` must be a string`;
  if (notice.title.trim() === '' && notice.text.trim() === '') return 'it has no text';
  const fault = actionsFault(notice.actions ?? []);
  return fault === undefined ? undefined : `its \`actions\` must be ${fault}`;
}

/** Returns what the actions of a notice must be, when these are not. */
export function actionsFault(actions: unknown): string | undefined {
  return Array.isArray(actions) && actions.every(isAction)
    ? undefined
    : 'a list of `{ label, url }` with addresses of http or https';
}

function isAction(action: unknown): boolean {
  const { label, url } = (action ?? {}) as { readonly label?: unknown; readonly url?: unknown };
  if (typeof label !== 'string' || typeof url !== 'string') return false;
  return /^https?:$/.test(URL.parse(url)?.protocol ?? '');
}
