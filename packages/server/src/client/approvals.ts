import { Listing } from './listing.ts';
import { type CallOptions, pathOf, type Transport, type WriteOptions } from './transport.ts';
import type {
  Answer,
  AnswerOutcomes,
  BatchAnswers,
  Link,
  LinkOptions,
  OperationResult,
  RequestListQuery,
  ServerRequest,
  StandingApprovals,
} from './types.ts';

/**
 * Requests that runs wait for: approvals, and others that a person or a process must answer.
 * Rejects as `Sessions`.
 */
export class Approvals {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Requests in the order in which they were asked. @param query.status @default 'pending' */
  list(
    query: RequestListQuery = {},
    options: CallOptions = {},
  ): Listing<ServerRequest, 'requests'> {
    return new Listing('requests', (cursor) =>
      this.#transport.json({
        method: 'GET',
        path: pathOf('approvals'),
        query: { ...query, cursor },
        ...options,
      }),
    );
  }

  get(request: string, options: CallOptions = {}): Promise<ServerRequest> {
    return this.#transport.json({ method: 'GET', path: pathOf('approvals', request), ...options });
  }

  /**
   * Answers a request, in the name of the key. Of all answers one wins: the others are refused with
   * `request_settled`.
   */
  answer(request: string, answer: Answer, options: WriteOptions = {}): Promise<ServerRequest> {
    return this.#transport.json({
      method: 'POST',
      path: pathOf('approvals', request),
      body: answer,
      ...options,
    });
  }

  /** Answers several requests, each by itself: the outcomes say what became of each. */
  async answerAll(answers: BatchAnswers, options: WriteOptions = {}): Promise<AnswerOutcomes> {
    const { outcomes } = await this.#transport.json<{ outcomes: AnswerOutcomes }>({
      method: 'POST',
      path: pathOf('approvals'),
      body: { answers },
      ...options,
    });
    return outcomes;
  }

  /** The approvals of a session that hold for later calls, oldest first. */
  async standing(session: string, options: CallOptions = {}): Promise<StandingApprovals> {
    const { approvals } = await this.#transport.json<{ approvals: StandingApprovals }>({
      method: 'GET',
      path: pathOf('sessions', session, 'standing-approvals'),
      ...options,
    });
    return approvals;
  }

  /**
   * Takes an approval back that holds for later calls.
   * @param request id of the request whose answer gave it
   */
  async withdraw(
    request: string,
    { reason, ...options }: WriteOptions & { readonly reason?: string } = {},
  ): Promise<void> {
    await this.#transport.json({
      method: 'POST',
      path: pathOf('approvals', request, 'withdraw'),
      body: reason === undefined ? {} : { reason },
      ...options,
    });
  }

  /** Makes a link for a message, at which a person without a key can decide. */
  link(request: string, link: LinkOptions = {}, options: WriteOptions = {}): Promise<Link> {
    return this.#transport.json({
      method: 'POST',
      path: pathOf('approvals', request, 'link'),
      body: link,
      ...options,
    });
  }
}

/** Operations that tools have begun in other systems. Rejects as `Sessions`. */
export class Operations {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Gives the result of an operation, or why it failed. Exactly one counts. */
  async settle(
    operationId: string,
    result: OperationResult,
    options: WriteOptions = {},
  ): Promise<void> {
    await this.#transport.json({
      method: 'POST',
      path: pathOf('resume', operationId),
      body: result,
      ...options,
    });
  }
}
