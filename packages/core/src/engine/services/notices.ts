import { defined } from '../../base/defined.ts';
import type { JsonObject } from '../../base/json.ts';
import { firstSession, notifierKind, serviceTurn } from '../../ledger/port/service-sessions.ts';
import type { Send } from '../../ledger/port.ts';

/** A notice for a person, as the ledgers carry it. It refers to what it is about. */
export interface NoticeDraft {
  readonly id: string;
  readonly tenant: string;
  readonly user: string;
  readonly title: string;
  readonly text: string;
  /** Names of the channels. @default all of the app */
  readonly channels?: readonly string[] | undefined;
  readonly about?: { readonly session: string; readonly run?: string; readonly request?: string };
  readonly urgent?: boolean | undefined;
  readonly expiresAt?: number | undefined;
  /** Epoch milliseconds at which it was made. */
  readonly at: number;
}

/** The send of a notice, with the append that causes it. */
export function noticeSend(notice: NoticeDraft): Send {
  return {
    to: firstSession(notifierKind, notice.user),
    open: true,
    turn: serviceTurn(notifierKind, notice.user),
    item: {
      ...noticeItem(notice),
      ...{ lane: 'input', by: 'runtime', at: notice.at, type: 'service' },
    },
  };
}

/** The key and the data of the item that carries a notice. */
export function noticeItem({ at: _, ...notice }: NoticeDraft): {
  readonly key: string;
  readonly data: JsonObject;
} {
  return {
    key: `notice:${notice.id}`,
    data: { command: 'notify', notice: defined(notice) as unknown as JsonObject },
  };
}

/**
 * The reason why nobody can be told by channels, for the end of a sentence; `undefined` when they
 * are there.
 * @param option name of the option that names them
 * @param has channels of the app; `undefined` when it can send no notices
 */
export function channelFault(
  option: string,
  channels: readonly string[] | undefined,
  has: readonly string[] | undefined,
): string | undefined {
  if (has === undefined)
    return (
      `\`${option}\` needs the option \`notifications\` of the runtime, made by ` +
      "`notifications({ channels })` of 'adjutant/notifications'"
    );
  if (channels?.length === 0)
    return `\`${option}\` names no channel: leave \`channels\` out for all of the app`;
  const unknown = channels?.find((name) => !has.includes(name));
  return unknown === undefined
    ? undefined
    : `\`${option}\`: the app has no channel "${unknown}"; it has: ${has.join(', ')}`;
}
