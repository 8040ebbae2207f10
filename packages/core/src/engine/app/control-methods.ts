import type { Actor } from '../../ledger/event.ts';
import type { LedgerPorts } from '../../ledger/ledger.ts';
import {
  postCancel,
  postGrant,
  postMessage,
  postPause,
  postResolution,
  type Resolution,
} from '../../session/answer.ts';
import type { AnySession } from '../../session/session.ts';
import type { CancelOptions, ControlOptions, SendOptions } from '../run/advance.ts';
import {
  checkCancel,
  checkGrant,
  checkMessage,
  checkPause,
  checkResolution,
  sessionIdOf,
} from './control-options.ts';
import { AnswersRequests } from './request-methods.ts';

/** The methods of a runtime that say something to a session, whoever works on it. */
export abstract class ControlsSessions extends AnswersRequests {
  /** Where sessions lie. */
  protected abstract controlPorts(): LedgerPorts;

  /** Called when something was posted to a session. */
  protected abstract posted(session: string): void;

  /**
   * Cancels what a session has under way, whoever works on it: the model call and the tools are
   * aborted, and the ledger says who wanted it. Resolves when it is stored; nobody who works on the
   * session takes more than a second to heed it.
   * @throws SessionNotFoundError, StoreUnavailableError
   */
  async cancel(session: AnySession | string, options: CancelOptions = {}): Promise<void> {
    checkCancel(options);
    const { by = 'user', reason, runId } = options;
    const id = sessionIdOf(session);
    await postCancel({ session: id, ports: this.controlPorts() }, { by, reason, runId });
    this.posted(id);
  }

  /**
   * Lets a session end its open round and begin no other, until it is resumed. @throws
   * SessionNotFoundError, StoreUnavailableError
   */
  async pause(session: AnySession | string, options: ControlOptions = {}): Promise<void> {
    checkPause(options);
    const { by = 'operator', reason } = options;
    const id = sessionIdOf(session);
    await postPause({ session: id, ports: this.controlPorts() }, { by, reason });
    this.posted(id);
  }

  /**
   * Leaves a message for a session, whoever works on it: the next prompt of its run has it, after
   * the results of the open round. Without an open run it is there for the next.
   * @throws SessionNotFoundError, StoreUnavailableError
   */
  async send(session: AnySession | string, text: string, options: SendOptions = {}): Promise<void> {
    checkMessage(text, options);
    const id = sessionIdOf(session);
    const { by = 'user', ...rest } = options;
    await postMessage({ session: id, ports: this.controlPorts() }, text, { by, ...rest });
    this.posted(id);
  }

  /**
   * Says what became of a call whose outcome nobody knew (its result has the status `unknown`): the
   * model is told, and an equal call is a new one.
   * @throws SessionNotFoundError, StoreUnavailableError
   */
  async resolveUnknown(
    session: AnySession | string,
    callId: string,
    found: Omit<Resolution, 'by'> & { readonly by?: Actor },
  ): Promise<void> {
    checkResolution(callId, found);
    const id = sessionIdOf(session);
    await postResolution({ session: id, ports: this.controlPorts() }, callId, {
      by: 'operator',
      ...found,
    });
    this.posted(id);
  }

  /**
   * Lets the runs of a session do more of what tools require: `fs:write`, or `fs:*` for all that
   * begins so. It holds from the next call of a tool on, for the open run and for all runs to come,
   * until it is taken back; forks have what their prefix granted.
   * @throws InvalidRunError, SessionNotFoundError, StoreUnavailableError
   */
  grant(
    session: AnySession | string,
    permissions: readonly string[],
    options: ControlOptions = {},
  ): Promise<void> {
    return this.#changeGrants('grant', session, permissions, options);
  }

  /**
   * Takes back what a session and its open run were granted; `fs:*` takes back all that begins so.
   * What the app grants stays, and so does `fs:*` when `fs:write` is taken back.
   * @throws InvalidRunError, SessionNotFoundError, StoreUnavailableError
   */
  revoke(
    session: AnySession | string,
    permissions: readonly string[],
    options: ControlOptions = {},
  ): Promise<void> {
    return this.#changeGrants('revoke', session, permissions, options);
  }

  async #changeGrants(
    type: 'grant' | 'revoke',
    session: AnySession | string,
    permissions: readonly string[],
    options: ControlOptions,
  ): Promise<void> {
    checkGrant(permissions, options);
    const { by = 'operator', reason } = options;
    const id = sessionIdOf(session);
    await postGrant({ session: id, ports: this.controlPorts() }, type, { permissions, by, reason });
    this.posted(id);
  }
}
