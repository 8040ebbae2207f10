import type { Clock } from '../../base/clock.ts';
import { defined } from '../../base/defined.ts';
import { isAdjutantError } from '../../base/error.ts';
import {
  findInvalidOption,
  isNonEmptyText,
  isObject,
  isPositive,
  type OptionChecks,
} from '../../base/options.ts';
import type { RequestDecision } from '../../ledger/event.ts';
import type { LedgerStore, RequestRow } from '../../ledger/port.ts';
import { syncClock } from '../../ledger/store-clock.ts';
import { postTokenRefusal } from '../../session/answer.ts';
import { InvalidRuntimeError } from '../frame/errors.ts';
import { type ApprovalTokenOptions, type TokenClaims, TokenSigner } from './approval-token.ts';
import { actorOf, assertMayDecide, assertPending, type RequestAnswer } from './check.ts';
import { ApprovalTokenError, DecisionNotOfferedError, InvalidAnswerError } from './errors.ts';
import { entryOf, type RequestEntry } from './list.ts';
import type { RequestRows } from './request-rows.ts';
import { withDecision } from './settled-request.ts';

export interface TokenOptions {
  /** Decisions that the token allows. @default all options of the request that need no input */
  readonly decisions?: readonly RequestDecision[];
  /** Epoch milliseconds. @default the expiry of the request; without one, 7 days from now */
  readonly expiresAt?: number;
  /**
   * Actor in whose name the token decides, no matter who uses it.
   * @default the actor that `decide` is called with
   */
  readonly by?: string;
}

/** The request and the decisions of a token. */
export interface TokenView {
  readonly request: RequestEntry;
  /** The decisions that the token allows. */
  readonly decisions: readonly RequestDecision[];
  /** Epoch milliseconds. */
  readonly expiresAt: number;
  readonly by?: string;
}

/** Parts of the service of requests that tokens need. */
interface TokenPorts {
  readonly ledgers: () => LedgerStore;
  readonly clock: Clock;
  readonly rows: RequestRows;
  readonly tenant: string;
  /** Keys for signing tokens; `undefined` when the app has no tokens. */
  readonly approvals: ApprovalTokenOptions | undefined;
  /** Answers a request. */
  readonly answer: (row: RequestRow, answer: RequestAnswer) => Promise<void>;
  /** Called when an item was posted to a session. */
  readonly posted: (session: string) => void;
}

const defaultTokenMs = 7 * 24 * 3_600_000;
const tokenChecks: OptionChecks<TokenOptions> = {
  decisions: (value) =>
    Array.isArray(value) && value.length > 0 ? undefined : 'a list of at least one decision',
  expiresAt: isPositive,
  by: isNonEmptyText,
};
const withInput: ReadonlySet<RequestDecision> = new Set(['edit', 'answer']);

/** Tokens by which requests are answered: made, shown and used. */
export class RequestTokens {
  readonly #ports: TokenPorts;

  constructor(ports: TokenPorts) {
    this.#ports = ports;
  }

  /**
   * Makes a token, which is the right to answer one request, for a link in a message. It is useless
   * when the request is settled or its question has changed.
   * @throws InvalidAnswerError, RequestNotFoundError, RequestSettledError, DecisionNotOfferedError,
   * MayNotDecideError, InvalidRuntimeError without keys
   */
  async make(requestId: string, options: TokenOptions): Promise<string> {
    const invalid = findInvalidOption(options, tokenChecks);
    if (invalid !== undefined)
      throw new InvalidAnswerError({ refused: 'No token can be made', reason: invalid.reason });
    const { decisions, expiresAt, by } = options;
    const signer = this.#signer();
    const row = await this.#ports.rows.find(requestId);
    const now = this.#ports.clock.now();
    await this.#assertPending(row, now);
    const offered = row.request.options;
    const unknown = decisions?.find((decision) => !offered.includes(decision));
    if (unknown !== undefined)
      throw new DecisionNotOfferedError({ requestId, decision: unknown, options: offered });
    if (expiresAt !== undefined && expiresAt <= now) {
      throw new InvalidAnswerError({
        refused: 'No token can be made',
        reason: `\`expiresAt\` is over: it must be later than ${now}`,
      });
    }
    const actor = by === undefined ? undefined : actorOf(by);
    if (actor !== undefined) assertMayDecide(row, actor);
    return signer.sign({
      requestId,
      tenant: this.#ports.tenant,
      session: row.session,
      fingerprint: row.fingerprint,
      decisions: decisions ?? offered.filter((option) => !withInput.has(option)),
      expiresAt: expiresAt ?? row.expiresAt ?? now + defaultTokenMs,
      ...defined({ by: actor }),
    });
  }

  /** Tenant of a token that was signed with the keys of the app, when it names another one. */
  otherTenantOf(token: string): string | undefined {
    const { approvals, tenant } = this.#ports;
    const named = approvals === undefined ? undefined : this.#signer().tenantOf(token);
    return named === tenant ? undefined : named;
  }

  /**
   * Returns the request and decisions of a token. It changes nothing, so that programs that follow
   * links may call it.
   * @throws ApprovalTokenError, InvalidRuntimeError, StoreUnavailableError
   */
  async show(token: string): Promise<TokenView> {
    const { row, claims } = await this.#read(token);
    const { decisions, expiresAt, by } = claims;
    return defined({ request: entryOf(row), decisions, expiresAt, by });
  }

  /**
   * Answers a request by a token. A refused token is recorded in the ledger of the session, once
   * for each request and reason.
   * @throws ApprovalTokenError, MayNotDecideError, InputMismatchError, InvalidAnswerError,
   * InvalidRuntimeError, StoreUnavailableError
   */
  async decide(
    token: string,
    answer: RequestAnswer & { readonly decision: RequestDecision },
  ): Promise<void> {
    if (isObject(answer) !== undefined)
      throw new InvalidAnswerError({ reason: 'an object with a `decision` is needed' });
    try {
      const { row, claims } = await this.#read(token);
      const { requestId, by, decisions } = claims;
      const isOther = by !== undefined && answer.by !== undefined && actorOf(answer.by) !== by;
      if (isOther || !decisions.includes(answer.decision))
        throw new ApprovalTokenError({ reason: 'not_signed_for', requestId });
      await this.#ports
        .answer(row, by === undefined ? answer : { ...answer, by })
        .catch((error: unknown) => {
          if (!isAdjutantError(error, 'request_settled')) throw error;
          throw new ApprovalTokenError({
            reason: error.data['status'] === 'expired' ? 'expired' : 'already_used',
            requestId,
          });
        });
    } catch (error) {
      if (error instanceof ApprovalTokenError) await this.#audit(error);
      throw error;
    }
  }

  #signer(): TokenSigner {
    const { approvals } = this.#ports;
    if (approvals !== undefined) return new TokenSigner(approvals.keys);
    throw new InvalidRuntimeError({
      refused: 'Tokens cannot be used',
      reason: 'they need keys: runtime({ approvals: { keys: [{ id, secret }] } })',
    });
  }

  async #read(token: string): Promise<{ readonly row: RequestRow; readonly claims: TokenClaims }> {
    const { clock, ledgers } = this.#ports;
    await syncClock(clock, ledgers());
    const claims = this.#signer().read(token, clock.now());
    const { requestId, session, fingerprint } = claims;
    const row = await this.#ports.rows.read({ requestId });
    if (row === undefined) throw new ApprovalTokenError({ reason: 'unknown_request', requestId });
    if (
      row.session !== session ||
      row.fingerprint !== fingerprint ||
      (await this.#ports.rows.isAskedAgain(row))
    ) {
      throw new ApprovalTokenError({ reason: 'changed', requestId });
    }
    const isOver =
      row.status === 'pending' && row.expiresAt !== undefined && row.expiresAt <= clock.now();
    if (row.status === 'expired' || isOver)
      throw new ApprovalTokenError({ reason: 'expired', requestId });
    if (row.status !== 'pending')
      throw new ApprovalTokenError({ reason: 'already_used', requestId });
    return { row, claims };
  }

  async #audit({ reason, data }: ApprovalTokenError): Promise<void> {
    const requestId = data['requestId'];
    const row =
      typeof requestId === 'string' ? await this.#ports.rows.read({ requestId }) : undefined;
    if (row === undefined) return;
    const { ledgers, clock, posted } = this.#ports;
    await postTokenRefusal(
      { session: row.session, ports: { store: ledgers(), clock } },
      { requestId: row.requestId, reason },
    );
    posted(row.session);
  }

  async #assertPending(row: RequestRow, now: number): Promise<void> {
    try {
      assertPending(row, now);
    } catch (error) {
      throw await withDecision(error, this.#ports.ledgers(), row.session);
    }
  }
}
