import type { JsonValue } from '../../base/json.ts';
import type { AnsweredBy, RequestAnswer } from '../requests/check.ts';
import type { ApprovalQuery, RequestEntry, RequestQuery } from '../requests/list.ts';
import type {
  AnswerOutcome,
  BatchAnswer,
  OperationOutcome,
  RequestService,
} from '../requests/service.ts';

/** The methods of a runtime that ask its requests; what they throw is said there. */
export abstract class AnswersRequests {
  /** What runs ask of somebody outside: listed, shown and answered, also by tokens. */
  abstract readonly requests: RequestService;

  /** Approvals that wait for a decision, in the order in which they were asked for. */
  listPendingApprovals(query?: ApprovalQuery): Promise<readonly RequestEntry[]> {
    return this.requests.listPendingApprovals(query);
  }

  /** Requests of all kinds, also settled ones. */
  listRequests(query?: RequestQuery): Promise<readonly RequestEntry[]> {
    return this.requests.list(query);
  }

  /** Answers a request. It stays pending when the answer does not fit. */
  answer(requestId: string, answer: RequestAnswer): Promise<void> {
    return this.requests.answer(requestId, answer);
  }

  /** Lets a call be made. */
  approve(requestId: string, said: AnsweredBy = {}): Promise<void> {
    return this.requests.answer(requestId, { ...said, decision: 'approve' });
  }

  /** Does not let a call be made: the model is told so. */
  reject(requestId: string, said: AnsweredBy = {}): Promise<void> {
    return this.requests.answer(requestId, { ...said, decision: 'reject' });
  }

  /** Lets a call be made with other arguments. */
  edit(requestId: string, args: JsonValue, said: AnsweredBy = {}): Promise<void> {
    return this.requests.answer(requestId, { ...said, decision: 'edit', input: args });
  }

  /** Answers several requests, each by itself. */
  answerAll(answers: readonly BatchAnswer[]): Promise<readonly AnswerOutcome[]> {
    return this.requests.answerAll(answers);
  }

  /** Gives the result of an operation that a tool began with `pending()`. */
  settleOperation(
    operationId: string,
    result: JsonValue,
    outcome?: OperationOutcome,
  ): Promise<void> {
    return this.requests.settleOperation(operationId, result, outcome);
  }
}
