import type { Clock } from '../../base/clock.ts';
import { defined } from '../../base/defined.ts';
import { isAdjutantError } from '../../base/error.ts';
import { canonicalJson, findJsonDefect, type JsonValue } from '../../base/json.ts';
import {
  findInvalidOption,
  isFlag,
  isNonEmptyText,
  isObject,
  isPositive,
  type OptionChecks,
} from '../../base/options.ts';
import { NotJsonError, RequestNotFoundError, RequestSettledError } from '../../ledger/errors.ts';
import type { RequestDecision } from '../../ledger/event.ts';
import type { LedgerStore, PendingRequest, RequestFilter, RequestRow } from '../../ledger/port.ts';
import { syncClock } from '../../ledger/store-clock.ts';
import { postAnswer, postTokenRefusal } from '../../session/answer.ts';
import { approvalKinds } from '../../session/pending-call.ts';
import { InvalidRuntimeError } from '../frame/errors.ts';
import { type ApprovalKey, type TokenClaims, TokenSigner } from './approval-token.ts';
import {
  type AnsweredBy,
  actorOf,
  assertMayDecide,
  assertPending,
  type CheckPorts,
  checkedAnswer,
  type RequestAnswer,
} from './check.ts';
import {
  ApprovalTokenError,
  DecisionNotOfferedError,
  InvalidAnswerError,
  OperationAmbiguousError,
} from './errors.ts';
import {
  type ApprovalQuery,
  entryOf,
  listRequests,
  type RequestEntry,
  type RequestQuery,
} from './list.ts';
import { withDecision } from './settled-request.ts';

/** One of several answers. */
export interface BatchAnswer extends RequestAnswer {
  readonly requestId: string;
}

/** Outcome of one of several answers. */
export type AnswerOutcome =
  | { readonly requestId: string; readonly accepted: true }
  | { readonly requestId: string; readonly accepted: false; readonly error: Error };

export interface OperationOutcome extends Omit<AnsweredBy, 'reason'> {
  /** True when the operation failed; the result then gives the reason. @default false */
  readonly failed?: boolean;
}

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

export interface RequestServicePorts extends Pick<CheckPorts, 'findTool'> {
  readonly ledgers: (tenant?: string) => LedgerStore;
  readonly clock: Clock;
  /** Keys for signing tokens; `undefined` when the app has no tokens. */
  readonly keys: readonly ApprovalKey[] | undefined;
  /** Called when an item was posted to a session. */
  readonly posted: (session: string) => void;
}

const defaultTokenMs = 7 * 24 * 3_600_000;
const outcomeChecks: OptionChecks<OperationOutcome> = { failed: isFlag, by: isNonEmptyText };
const tokenChecks: OptionChecks<TokenOptions> = {
  decisions: (value) =>
    Array.isArray(value) && value.length > 0 ? undefined : 'a list of at least one decision',
  expiresAt: isPositive,
  by: isNonEmptyText,
};
const withInput: ReadonlySet<RequestDecision> = new Set(['edit', 'answer']);

/**
 * The requests of runs: listed, shown and answered, in whatever process the run waits.
 * `app.requests`.
 */
export class RequestService {
  readonly #ports: RequestServicePorts;
  /**
   * Rejects when an answer does not fit a pending request.
   * @throws as `answer`
   */
  readonly check: (request: PendingRequest, answer: RequestAnswer) => Promise<void>;

  constructor(ports: RequestServicePorts) {
    this.#ports = ports;
    const { clock, findTool } = ports;
    this.check = async (request, answer) =>
      void (await checkedAnswer({ ...request, status: 'pending' }, answer, {
        now: clock.now(),
        findTool,
      }));
  }

  /**
   * Lists the approvals that wait for a decision.
   * @throws InvalidAnswerError, StoreUnavailableError
   */
  listPendingApprovals(query: ApprovalQuery = {}): Promise<readonly RequestEntry[]> {
    return this.list({ ...query, kinds: approvalKinds, status: 'pending' });
  }

  /**
   * Lists requests of all kinds.
   * @throws InvalidAnswerError, StoreUnavailableError
   */
  async list(query: RequestQuery = {}): Promise<readonly RequestEntry[]> {
    const ledgers = this.#ports.ledgers(query.tenant);
    await syncClock(this.#ports.clock, ledgers);
    return listRequests(ledgers, query, this.#ports.clock.now());
  }

  /** @throws RequestNotFoundError, StoreUnavailableError */
  async get(requestId: string): Promise<RequestEntry> {
    return entryOf(await this.#find(requestId));
  }

  /**
   * Answers a request, if the answer fits and the request is still pending: of all answers,
   * expiries and cancels one wins. The run goes on where it is, or recovery continues it.
   * @throws RequestNotFoundError, RequestSettledError, DecisionNotOfferedError, MayNotDecideError,
   * InputMismatchError, InvalidAnswerError, NotJsonError, StoreUnavailableError
   */
  async answer(requestId: string, answer: RequestAnswer): Promise<void> {
    await this.#answer(await this.#find(requestId), answer);
  }

  /** Lets a call be made; as `answer`. */
  approve(requestId: string, said: AnsweredBy = {}): Promise<void> {
    return this.answer(requestId, { ...said, decision: 'approve' });
  }

  /** Refuses a call: the model is told so; as `answer`. */
  reject(requestId: string, said: AnsweredBy = {}): Promise<void> {
    return this.answer(requestId, { ...said, decision: 'reject' });
  }

  /** Lets a call be made with other arguments; as `answer`. */
  edit(requestId: string, args: JsonValue, said: AnsweredBy = {}): Promise<void> {
    return this.answer(requestId, { ...said, decision: 'edit', input: args });
  }

  /** Answers several requests, each by itself. Never rejects because of an answer. */
  async answerAll(answers: readonly BatchAnswer[]): Promise<readonly AnswerOutcome[]> {
    if (!Array.isArray(answers))
      throw new InvalidAnswerError({
        refused: 'The requests cannot be answered',
        reason: 'a list of answers is needed',
      });
    return Promise.all(
      answers.map(async (given: BatchAnswer): Promise<AnswerOutcome> => {
        const { requestId, ...answer } = isObject(given) === undefined ? given : { requestId: '' };
        try {
          await this.answer(requestId, answer);
          return { requestId, accepted: true };
        } catch (error) {
          return { requestId, accepted: false, error: error as Error };
        }
      }),
    );
  }

  /**
   * Gives the result of an operation that a tool began with `pending()`. Exactly one result counts.
   * @throws InvalidAnswerError, NotJsonError; RequestNotFoundError when no call waits for it (yet),
   * RequestSettledError when it has a result, OperationAmbiguousError, InputMismatchError,
   * StoreUnavailableError
   */
  async settleOperation(
    operationId: string,
    result: JsonValue,
    outcome: OperationOutcome = {},
  ): Promise<void> {
    const refused = 'The operation cannot be settled';
    const invalid = findInvalidOption(outcome, outcomeChecks);
    if (invalid !== undefined) throw new InvalidAnswerError({ refused, reason: invalid.reason });
    if (result === undefined)
      throw new InvalidAnswerError({
        refused,
        reason: 'the result is missing: give `null` when there is none',
      });
    const defect = findJsonDefect(result);
    if (defect !== undefined)
      throw new NotJsonError({ what: `The result of operation "${operationId}"`, ...defect });
    const { failed = false, by } = outcome;
    const row = await this.#findOperation(operationId);
    const said = defined({ by });
    if (!failed) return this.#answer(row, { ...said, decision: 'answer', input: result });
    const reason = typeof result === 'string' ? result : canonicalJson(result);
    await this.#answer(row, { ...said, decision: 'reject', reason });
  }

  /**
   * Makes a token, which is the right to answer one request, for a link in a message. It is useless
   * when the request is settled or its question has changed.
   * @throws InvalidAnswerError, RequestNotFoundError, RequestSettledError, DecisionNotOfferedError,
   * MayNotDecideError, InvalidRuntimeError without keys
   */
  async token(requestId: string, options: TokenOptions = {}): Promise<string> {
    const invalid = findInvalidOption(options, tokenChecks);
    if (invalid !== undefined)
      throw new InvalidAnswerError({ refused: 'No token can be made', reason: invalid.reason });
    const { decisions, expiresAt, by } = options;
    const signer = this.#signer();
    const row = await this.#find(requestId);
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
      session: row.session,
      fingerprint: row.fingerprint,
      decisions: decisions ?? offered.filter((option) => !withInput.has(option)),
      expiresAt: expiresAt ?? row.expiresAt ?? now + defaultTokenMs,
      ...defined({ by: actor }),
    });
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
      await this.#answer(row, by === undefined ? answer : { ...answer, by }).catch(
        (error: unknown) => {
          if (!isAdjutantError(error, 'request_settled')) throw error;
          throw new ApprovalTokenError({
            reason: error.data['status'] === 'expired' ? 'expired' : 'already_used',
            requestId,
          });
        },
      );
    } catch (error) {
      if (error instanceof ApprovalTokenError) await this.#audit(error);
      throw error;
    }
  }

  #signer(): TokenSigner {
    const { keys } = this.#ports;
    if (keys !== undefined) return new TokenSigner(keys);
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
    const row = await this.#row({ requestId });
    if (row === undefined) throw new ApprovalTokenError({ reason: 'unknown_request', requestId });
    if (
      row.session !== session ||
      row.fingerprint !== fingerprint ||
      (await this.#isAskedAgain(row))
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

  /** Checks that the same call has another pending request. */
  async #isAskedAgain({ status, session, callId, requestId }: RequestRow): Promise<boolean> {
    if (status === 'pending') return false;
    const pending = await this.#ports.ledgers().requests({ session, status: 'pending' });
    return pending.some((other) => other.callId === callId && other.requestId !== requestId);
  }

  async #audit({ reason, data }: ApprovalTokenError): Promise<void> {
    const requestId = data['requestId'];
    const row = typeof requestId === 'string' ? await this.#row({ requestId }) : undefined;
    if (row === undefined) return;
    const { ledgers, clock, posted } = this.#ports;
    await postTokenRefusal(
      { session: row.session, ports: { store: ledgers(), clock } },
      { requestId: row.requestId, reason },
    );
    posted(row.session);
  }

  async #answer(row: RequestRow, answer: RequestAnswer): Promise<void> {
    const { ledgers, clock, findTool, posted } = this.#ports;
    const { requestId, session } = row;
    try {
      const said = await checkedAnswer(row, answer, { now: clock.now(), findTool });
      const { duplicate } = await postAnswer(
        { session, ports: { store: ledgers(), clock } },
        requestId,
        said,
      );
      if (duplicate)
        throw new RequestSettledError({
          requestId,
          status: 'answered',
          by: said.by,
          decision: said.decision,
        });
    } catch (error) {
      throw await withDecision(error, ledgers(), session);
    }
    posted(session);
  }

  async #assertPending(row: RequestRow, now: number): Promise<void> {
    try {
      assertPending(row, now);
    } catch (error) {
      throw await withDecision(error, this.#ports.ledgers(), row.session);
    }
  }

  /** Reads a row, and before it the store's clock for its expiry. */
  async #row(filter: RequestFilter): Promise<RequestRow | undefined> {
    const ledgers = this.#ports.ledgers();
    await syncClock(this.#ports.clock, ledgers);
    const [row] = await ledgers.requests({ ...filter, limit: 1 });
    return row;
  }

  async #find(requestId: string): Promise<RequestRow> {
    const row = await this.#row({ requestId });
    if (row === undefined) throw new RequestNotFoundError({ requestId });
    return row;
  }

  /** Finds the request of the call that waits for an operation; when none waits, the last one. */
  async #findOperation(operationId: string): Promise<RequestRow> {
    const ledgers = this.#ports.ledgers();
    await syncClock(this.#ports.clock, ledgers);
    const rows = await ledgers.requests({ operationId });
    const pending = rows.filter(({ status }) => status === 'pending');
    if (pending.length > 1)
      throw new OperationAmbiguousError({
        operationId,
        requestIds: pending.map(({ requestId }) => requestId),
      });
    const row = pending[0] ?? rows.at(-1);
    if (row === undefined) throw new RequestNotFoundError({ requestId: operationId });
    return row;
  }
}
