import type { Clock } from '../../base/clock.ts';
import { defined } from '../../base/defined.ts';
import { canonicalJson, findJsonDefect, type JsonValue } from '../../base/json.ts';
import {
  findInvalidOption,
  isFlag,
  isNonEmptyText,
  isObject,
  type OptionChecks,
} from '../../base/options.ts';
import { NotJsonError, RequestSettledError } from '../../ledger/errors.ts';
import type { RequestDecision } from '../../ledger/event.ts';
import type { StandingApproval } from '../../ledger/folds/standing-fold.ts';
import type { LedgerStore, RequestDraft, RequestRow } from '../../ledger/port.ts';
import { syncClock } from '../../ledger/store-clock.ts';
import { postAnswer, postWithdrawal } from '../../session/answer.ts';
import { approvalKinds } from '../../session/pending-request.ts';
import type { ApprovalTokenOptions } from './approval-token.ts';
import {
  type AnsweredBy,
  actorOf,
  type CheckPorts,
  checkedAnswer,
  type RequestAnswer,
} from './check.ts';
import { ApprovalTokenError, InvalidAnswerError } from './errors.ts';
import type { ApprovalLinks } from './links.ts';
import {
  type ApprovalQuery,
  entryOf,
  listRequests,
  type RequestEntry,
  type RequestQuery,
} from './list.ts';
import { RequestRows } from './request-rows.ts';
import { RequestTokens, type TokenOptions, type TokenView } from './request-tokens.ts';
import { withDecision } from './settled-request.ts';
import { readStanding } from './standing.ts';

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

export interface RequestServicePorts extends Pick<CheckPorts, 'findTool'> {
  readonly ledgers: (tenant?: string) => LedgerStore;
  readonly clock: Clock;
  readonly app: string;
  readonly tenant: string;
  /** Keys for signing tokens; `undefined` when the app has no tokens. */
  readonly approvals: ApprovalTokenOptions | undefined;
  /** Address that links lead to. */
  readonly links: ApprovalLinks;
  /** The requests of another tenant; `undefined` when they are out of reach. */
  readonly ofTenant: (tenant: string) => RequestService | undefined;
  /** Called when an item was posted to a session. */
  readonly posted: (session: string) => void;
}

const outcomeChecks: OptionChecks<OperationOutcome> = { failed: isFlag, by: isNonEmptyText };

/**
 * The requests of runs: listed, shown and answered, in whatever process the run waits.
 * `app.requests`.
 */
export class RequestService {
  readonly #ports: RequestServicePorts;
  readonly #rows: RequestRows;
  readonly #tokens: RequestTokens;
  /**
   * Rejects when an answer does not fit a pending request.
   * @throws as `answer`
   */
  readonly check: (request: RequestDraft, answer: RequestAnswer) => Promise<void>;

  constructor(ports: RequestServicePorts) {
    this.#ports = ports;
    const { ledgers, clock, approvals, tenant, findTool, posted } = ports;
    this.#rows = new RequestRows(ledgers, clock);
    this.#tokens = new RequestTokens({
      ledgers,
      clock,
      rows: this.#rows,
      tenant,
      approvals,
      answer: (row, answer) => this.#answer(row, answer),
      posted,
    });
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
    return entryOf(await this.#rows.find(requestId));
  }

  /**
   * Answers a request, if the answer fits and the request is still pending: of all answers,
   * expiries and cancels one wins. The run goes on where it is, or recovery continues it.
   * @throws RequestNotFoundError, RequestSettledError, DecisionNotOfferedError, MayNotDecideError,
   * InputMismatchError, InvalidAnswerError, NotJsonError, StoreUnavailableError
   */
  async answer(requestId: string, answer: RequestAnswer): Promise<void> {
    await this.#answer(await this.#rows.find(requestId), answer);
  }

  /** Lets a call be made, and with `always` later ones like it; as `answer`. */
  approve(requestId: string, said: AnsweredBy & Pick<RequestAnswer, 'always'> = {}): Promise<void> {
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

  /**
   * Lists the approvals of a session that hold for later calls, oldest first.
   * @throws InvalidAnswerError, SessionNotFoundError, StoreUnavailableError
   */
  standing(session: { readonly id: string } | string): Promise<readonly StandingApproval[]> {
    const id: unknown = typeof session === 'string' ? session : session?.id;
    if (isNonEmptyText(id) !== undefined)
      throw new InvalidAnswerError({
        refused: 'The standing approvals cannot be listed',
        reason: 'a session or the id of one is needed',
      });
    const { app, ledgers } = this.#ports;
    return readStanding(ledgers(), { app, session: id as string });
  }

  /**
   * Takes a standing approval back: later calls are asked about again.
   * @param id of the request with whose answer it was given
   * @throws RequestNotFoundError, InvalidAnswerError, StoreUnavailableError
   */
  async withdraw(id: string, { by, reason }: AnsweredBy = {}): Promise<void> {
    const { app, ledgers, clock, posted } = this.#ports;
    const { session } = await this.#rows.find(id);
    const store = ledgers();
    const holds = (await readStanding(store, { app, session })).some((one) => one.id === id);
    if (!holds)
      throw new InvalidAnswerError({
        refused: 'The standing approval cannot be taken back',
        reason: `request "${id}" has none that holds`,
      });
    const said = { id, by: actorOf(by), ...defined({ reason }) };
    await postWithdrawal({ session, ports: { store, clock } }, said);
    posted(session);
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
    const row = await this.#rows.findOperation(operationId);
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
   * @see link for the whole address
   */
  token(requestId: string, options: TokenOptions = {}): Promise<string> {
    return this.#tokens.make(requestId, options);
  }

  /**
   * Returns the request and decisions of a token. It changes nothing, so that programs that follow
   * links may call it.
   * @throws ApprovalTokenError, InvalidRuntimeError, StoreUnavailableError
   */
  async show(token: string): Promise<TokenView> {
    return this.#tokensOf(token).show(token);
  }

  /**
   * Makes a link to the page by which somebody decides, who needs no account: the address of the
   * page with a new token.
   * @throws as `token`; InvalidRuntimeError when no address of the page is known
   */
  async link(requestId: string, options: TokenOptions = {}): Promise<string> {
    const { links } = this.#ports;
    const address = links.address();
    return links.at(address, await this.token(requestId, options));
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
    await this.#tokensOf(token).decide(token, answer);
  }

  /**
   * Sets the address that links lead to while `approvals.url` names none: for servers, which show
   * the page.
   */
  serveLinksAt(address: string): void {
    this.#ports.links.serveAt(address);
  }

  /** The tokens of the tenant that a token names, which only a token with a signature can. */
  #tokensOf(token: string): RequestTokens {
    const tenant = this.#tokens.otherTenantOf(token);
    if (tenant === undefined) return this.#tokens;
    const other = this.#ports.ofTenant(tenant);
    if (other === undefined) throw new ApprovalTokenError({ reason: 'unknown_request' });
    return other.#tokens;
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
}
