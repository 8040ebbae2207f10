import { defined } from '../../../base/defined.ts';
import { AdjutantError, type ErrorRecord } from '../../../base/error.ts';
import type { EndedAttempt, SupervisedResult } from '../../../effects/tool-call/supervisor.ts';
import { decision } from '../../../ledger/decisions/decision.ts';
import type { DecisionName } from '../../../ledger/decisions/decision-map.ts';
import type { EventDraft } from '../../../ledger/event.ts';
import type { ErrorAction } from '../../../runnables/hooks.ts';
import type { Supervision } from '../../../supervision/options.ts';
import { toToolResult } from '../../../tools/result.ts';
import { abortForHandler } from '../../frame/recorded-abort.ts';
import type { BodyFrame } from '../../frame/run-context.ts';
import { delayOf } from '../hooks/error-handlers.ts';
import type { HookPipeline } from '../hooks/hook-pipeline.ts';
import type { ErrorRouting } from './error-routing.ts';
import { hookCall } from './hook-call.ts';
import { mayRepeat } from './repetition.ts';
import { type Outcome, settledWith } from './stage.ts';

interface ErrorHandlerPorts {
  readonly frame: BodyFrame;
  readonly hooks: HookPipeline;
  readonly routing: ErrorRouting | undefined;
  readonly errors: Supervision['errors'];
}

/** Action of an error handler for one failed attempt. */
interface Handled {
  readonly attempt: EndedAttempt;
  /** Name of the handler. */
  readonly handler: string;
  readonly action: ErrorAction;
  /** Failures of the call so far, this one included. */
  readonly count: number;
}

/** Asks the error handlers about failed attempts, and does what they want. */
export class ErrorHandlerStage {
  readonly #ports: ErrorHandlerPorts;

  constructor(ports: ErrorHandlerPorts) {
    this.#ports = ports;
  }

  /** Returns the result that an error handler wants; `undefined` when all of them pass. */
  async after(attempt: EndedAttempt, outcome: Outcome): Promise<SupervisedResult | undefined> {
    const { hooks, routing, errors } = this.#ports;
    const { result } = outcome;
    const mayRetry = mayRepeat(attempt);
    const count = routing?.failures(attempt, result) ?? attempt.attempt;
    const error = new AdjutantError(result.errorType ?? result.status, String(result.content), {
      tool: attempt.tool.name,
    });
    const answer = await hooks.errorHandlers.handle({
      phase: 'tool' as const,
      error,
      attempt: count,
      retryAfterMs: attempt.retryAfterMs,
      mayRetry,
      call: hookCall(attempt),
      result,
    });
    if (answer === undefined) return undefined;
    const handled = { attempt, count, ...answer };
    const most = errors?.attempts;
    const why = !mayRetry
      ? 'another attempt could do something twice'
      : most !== undefined && count >= most
        ? `${most} attempts are all that it gets`
        : '';
    if (handled.action.action !== 'retry' || why === '') return this.#perform(handled, outcome);
    const reasoning = `It wanted another attempt, but ${why}.`;
    outcome.drafts = [...outcome.drafts, this.#draft(handled, 'refuse_retry', reasoning)];
    return undefined;
  }

  #perform(handled: Handled, outcome: Outcome): SupervisedResult | undefined {
    const { frame, hooks } = this.#ports;
    const { action, handler, attempt } = handled;
    const { result } = outcome;
    const record: ErrorRecord = {
      name: 'ToolError',
      code: result.errorType ?? result.status,
      message: String(result.content),
    };
    const note = (reasoning: string, failure?: ErrorRecord) => {
      const draft = this.#draft(handled, action.action, reasoning, failure);
      outcome.drafts = [...outcome.drafts, draft];
    };
    const { callId } = attempt.state.call;
    switch (action.action) {
      case 'retry': {
        const retryAfterMs = delayOf(action);
        note(`It wants another attempt after ${retryAfterMs} ms.`);
        return { ...settledWith(outcome, hooks.takeWrites(callId)), retryAfterMs };
      }
      case 'fallback':
        note('It gives a result in the place of the failed one.');
        outcome.result = toToolResult(action.result);
        break;
      case 'abort':
        note('It ends the run.');
        abortForHandler(frame.run, handler, record);
        break;
      case 'throw':
        note('It ends the agent with the error.', record);
        break;
      case 'skip':
        note('The model gets the failed result, and nothing else is tried.');
        break;
      default:
        return undefined;
    }
    return settledWith(outcome, hooks.takeWrites(callId));
  }

  #draft(
    { attempt, handler, count }: Handled,
    name: DecisionName<'error_handler'>,
    what: string,
    failure?: ErrorRecord,
  ): EventDraft {
    const { result, state, tool } = attempt;
    const errorType = result.errorType ?? result.status;
    const data = { handler, tool: tool.name, callId: state.call.callId, errorType, attempt: count };
    return decision('error_handler', name, {
      invocationId: this.#ports.frame.record.path,
      reasoning:
        `The error handler "${handler}" was asked about ${errorType} of ` + `${tool.name}. ${what}`,
      alternatives: ['throw', 'skip', 'abort', 'retry', 'fallback', 'pass'].filter(
        (other) => other !== name,
      ),
      data: { ...data, ...defined({ failure }) },
    });
  }
}
