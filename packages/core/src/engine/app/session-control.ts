import type { Clock } from '../../base/clock.ts';
import type { Actor } from '../../ledger/event.ts';
import type { LedgerPorts } from '../../ledger/ledger.ts';
import {
  postCancel,
  postGrant,
  postInterrupt,
  postMessage,
  postPause,
  type Resolution,
} from '../../session/answer.ts';
import type { AnySession, Session } from '../../session/session.ts';
import { releaseLedger } from '../frame/in-flight.ts';
import type {
  CancelOptions,
  ControlOptions,
  InterruptOptions,
  PauseOptions,
  SendOptions,
} from '../run/advance.ts';
import { type ReopenOptions, reopenDrafts } from '../run/reopen.ts';
import {
  checkCancel,
  checkGrant,
  checkInterrupt,
  checkMessage,
  checkPause,
  checkReopenOptions,
  checkResolution,
  sessionIdOf,
} from './control-options.ts';
import { recordOutcome } from './unknown-outcome.ts';

export interface SessionControlPorts {
  readonly clock: Clock;
  readonly ledgerPorts: () => LedgerPorts;
  /** Opens an existing session. */
  readonly opened: (session: AnySession | string) => Promise<Session>;
  readonly isActive: (session: string) => boolean;
  /** Called when an entry was posted to a session. */
  readonly posted: (session: string) => void;
  /** Called when a cancel was posted to a session. */
  readonly cancelled: (session: string) => void;
  /** Called when a session has become due. */
  readonly due: () => void;
}

/**
 * Sender of messages and commands to sessions, in this process or another: it posts to their
 * inboxes.
 */
export class SessionControl {
  readonly #ports: SessionControlPorts;

  constructor(ports: SessionControlPorts) {
    this.#ports = ports;
  }

  async cancel(session: AnySession | string, options: CancelOptions): Promise<void> {
    checkCancel(options);
    const { by = 'user', lane, reason, runId } = options;
    const id = sessionIdOf(session);
    await postCancel(this.#inbox(id), { by, lane, reason, runId });
    this.#ports.cancelled(id);
  }

  async pause(session: AnySession | string, options: PauseOptions): Promise<void> {
    checkPause(options);
    const { by = 'operator', lane, reason } = options;
    const id = sessionIdOf(session);
    await postPause(this.#inbox(id), { by, lane, reason });
    this.#ports.posted(id);
  }

  async interrupt(session: AnySession | string, options: InterruptOptions): Promise<void> {
    checkInterrupt(options);
    const { by = 'user', lane, next = 'pause', reason } = options;
    const id = sessionIdOf(session);
    await postInterrupt(this.#inbox(id), { by, lane, next, reason });
    this.#ports.posted(id);
  }

  async send(session: AnySession | string, text: string, options: SendOptions): Promise<void> {
    checkMessage(text, options);
    const id = sessionIdOf(session);
    const { by = 'user', ...rest } = options;
    await postMessage(this.#inbox(id), text, { by, ...rest });
    this.#ports.posted(id);
  }

  async resolveUnknown(
    session: AnySession | string,
    callId: string,
    found: Omit<Resolution, 'by'> & { readonly by?: Actor },
  ): Promise<void> {
    checkResolution(callId, found);
    // Refuses the session of another app.
    await this.#ports.opened(session);
    const id = sessionIdOf(session);
    const open = (): Promise<Session> => this.#ports.opened(id);
    await recordOutcome({ session: id, callId, found: { by: 'operator', ...found }, open });
    this.#ports.due();
  }

  async changeGrants(
    type: 'grant' | 'revoke',
    session: AnySession | string,
    permissions: readonly string[],
    options: ControlOptions,
  ): Promise<void> {
    checkGrant(permissions, options);
    const { by = 'operator', reason } = options;
    const id = sessionIdOf(session);
    await postGrant(this.#inbox(id), type, { permissions, by, reason });
    this.#ports.posted(id);
  }

  async reopen(session: AnySession | string, options: ReopenOptions): Promise<void> {
    checkReopenOptions(options);
    const { ledger } = await this.#ports.opened(session);
    const drafts = reopenDrafts(ledger, options);
    await ledger.lease.own();
    ledger.append(drafts, { wakeAt: this.#ports.clock.now() });
    await ledger.durable();
    if (!this.#ports.isActive(ledger.session)) await releaseLedger(ledger);
    this.#ports.due();
  }

  #inbox(session: string): { readonly session: string; readonly ports: LedgerPorts } {
    return { session, ports: this.#ports.ledgerPorts() };
  }
}
