import type { Attributes, Context, Link, SpanKind } from '@opentelemetry/api';
import { systemClock } from '../base/clock.ts';
import { defined } from '../base/defined.ts';
import { isAdjutantError } from '../base/error.ts';
import type { JsonObject } from '../base/json.ts';
import type { Event, EventOf } from '../ledger/event.ts';
import { ancestorsOf, isRootOf, rootOf } from '../ledger/path.ts';
import type {
  InvocationOperation,
  ModelOperation,
  Operation,
  RunOperation,
  ToolOperation,
} from '../runnables/operation.ts';
import { invocationStart, modelAttributes, runAttributes, toolAttributes } from './attributes.ts';
import { answerPart, inputMessages, outputMessages, shown } from './content.ts';
import type { OpenSpan, SpanEnd } from './open-span.ts';
import { quietly, telling } from './quietly.ts';
import { invocationEnd, modelEnd, restEnd, toolEnd } from './span-ends.ts';
import { noteOf, resultNote, type SpanNote } from './span-events.ts';
import type { Telemetry } from './telemetry.ts';
import { spanOfTraceParent, traceParentOf } from './trace-parent.ts';

interface OpenInvocation {
  readonly operation: InvocationOperation;
  readonly open: OpenSpan;
  /** Times that the model was asked for another answer, not counting retries. */
  rounds: number;
  round: { readonly number: number; readonly open: OpenSpan } | undefined;
}

interface OpenTool {
  readonly operation: ToolOperation;
  readonly open: OpenSpan;
}

interface OpenRequest {
  readonly operation: ModelOperation;
  readonly open: OpenSpan;
}

/**
 * The spans of one run, as far as it is carried out here. Work opens them, and the events that it
 * appends say how they end.
 */
export class RunTrace {
  readonly #telemetry: Telemetry;
  readonly #operation: RunOperation;
  readonly #run: OpenSpan;
  readonly #invocations = new Map<string, OpenInvocation>();
  readonly #tools = new Map<string, OpenTool>();
  readonly #requests = new Map<string, OpenRequest>();
  /** The answer of the model, by invocation; only kept with content. */
  readonly #answers = new Map<string, JsonObject[]>();
  /** Invocations that stopped here without an end: they wait, or the run is released. */
  readonly #resting = new Map<string, OpenSpan>();
  #hasYielded = false;
  #isOver = false;
  #rootEnd: SpanEnd | undefined;

  private constructor(telemetry: Telemetry, operation: RunOperation, run: OpenSpan) {
    this.#telemetry = telemetry;
    this.#operation = operation;
    this.#run = run;
  }

  /** @returns `undefined` when nothing would come of it */
  static begin(telemetry: Telemetry, operation: RunOperation): RunTrace | undefined {
    const { api } = telemetry;
    const parent = operation.asked ? api.context.active() : api.ROOT_CONTEXT;
    const before =
      operation.traceBefore === undefined ? undefined : spanOfTraceParent(operation.traceBefore);
    const links: Link[] =
      before === undefined
        ? []
        : [{ context: before, attributes: { 'adjutant.link': 'continues' } }];
    const open = telemetry.start(`run ${operation.name}`, parent, {
      attributes: runAttributes(operation),
      links,
    });
    const isTraced = api.isSpanContextValid(open.span.spanContext());
    if (!isTraced && telemetry.instruments === undefined) return undefined;
    const trace = new RunTrace(telemetry, operation, open);
    if (isTraced) operation.keepTrace(traceParentOf(open.span.spanContext()));
    operation.listen((event) => void quietly(() => trace.#hear(event)));
    return trace;
  }

  /** Carries the run out. */
  run<Result>(work: () => Result): Result {
    const { api, key } = this.#telemetry;
    return telling(
      () => api.context.with(this.#run.context.setValue(key, this), work),
      (thrown) => this.#runOver(thrown),
    );
  }

  around<Result>(operation: Exclude<Operation, RunOperation>, work: () => Result): Result {
    const open = quietly(() => this.#begin(operation));
    if (open === undefined) return work();
    return telling(
      () => this.#telemetry.api.context.with(open.context, work),
      () => this.#over(operation, open),
    );
  }

  #begin(operation: Exclude<Operation, RunOperation>): OpenSpan {
    switch (operation.type) {
      case 'invocation':
        return this.#beginInvocation(operation);
      case 'model':
        return this.#beginRequest(operation);
      case 'tool':
        return this.#beginTool(operation);
    }
  }

  #beginInvocation(operation: InvocationOperation): OpenSpan {
    const { invocationId } = operation;
    const { name, attributes } = invocationStart(operation);
    const last = this.#resting.get(invocationId);
    this.#closeResting(invocationId);
    const links =
      last === undefined
        ? []
        : [{ context: last.span.spanContext(), attributes: { 'adjutant.link': 'continues' } }];
    const open = this.#start(name, this.#above(invocationId), { attributes, links });
    this.#invocations.set(invocationId, { operation, open, rounds: 0, round: undefined });
    return open;
  }

  #beginRequest(operation: ModelOperation): OpenSpan {
    const { invocationId, modelId, options } = operation;
    const { api, content } = this.#telemetry;
    const attributes = modelAttributes(operation);
    const open = this.#start(`chat ${modelId}`, this.#within(invocationId), {
      attributes,
      kind: api.SpanKind.CLIENT,
    });
    if (content && open.span.isRecording()) {
      open.span.setAttribute('gen_ai.input.messages', shown(inputMessages(options.prompt)));
      this.#answers.set(invocationId, []);
    }
    this.#requests.set(invocationId, { operation, open });
    return open;
  }

  #beginTool(operation: ToolOperation): OpenSpan {
    const { callId, invocationId, name, args } = operation;
    const open = this.#start(`execute_tool ${name}`, this.#within(invocationId), {
      attributes: toolAttributes(operation),
    });
    if (this.#telemetry.content && open.span.isRecording())
      open.span.setAttribute('gen_ai.tool.call.arguments', shown(args));
    this.#tools.set(callId, { operation, open });
    return open;
  }

  #start(
    name: string,
    parent: Context,
    options: { readonly attributes: Attributes; readonly links?: Link[]; readonly kind?: SpanKind },
  ): OpenSpan {
    return this.#telemetry.start(name, parent, options);
  }

  /**
   * Returns the parent context of an invocation: that of its caller, or of the nearest path above
   * it.
   */
  #above(path: string): Context {
    const { api, key } = this.#telemetry;
    const active = api.context.active();
    if (active.getValue(key) === this) return active;
    for (const above of ancestorsOf(path)) {
      const open = this.#tools.get(above)?.open ?? this.#invocations.get(above)?.open;
      if (open !== undefined) return open.context;
    }
    return this.#run.context.setValue(key, this);
  }

  /** Returns the parent context of requests and tools of an agent: that of its round. */
  #within(path: string): Context {
    const invocation = this.#invocations.get(path);
    return (invocation?.round?.open ?? invocation?.open)?.context ?? this.#above(path);
  }

  /** Ends the trace when the work is over. Spans without an end are marked as released. */
  #over(operation: Exclude<Operation, RunOperation>, open: OpenSpan): void {
    // Work with a recorded end ended at that event: others may have gone on already.
    open.endedAt ??= systemClock.monotonic();
    if (operation.type === 'model') return;
    if (operation.type === 'tool') {
      // Another attempt may have begun meanwhile.
      if (this.#tools.get(operation.callId)?.open === open) this.#tools.delete(operation.callId);
      this.#closeOrRest(operation.callId, open);
      return;
    }
    const { invocationId } = operation;
    const invocation = this.#invocations.get(invocationId);
    this.#invocations.delete(invocationId);
    if (invocation !== undefined) this.#endRound(invocation, open.endedAt);
    const request = this.#requests.get(invocationId);
    this.#requests.delete(invocationId);
    this.#answers.delete(invocationId);
    if (request !== undefined) this.#closeOrRest(`${invocationId} request`, request.open);
    if (invocation !== undefined) this.#measureAgent(invocation, open);
    this.#closeOrRest(invocationId, open);
  }

  #measureAgent(
    { operation, rounds }: OpenInvocation,
    { startedAt, endedAt = startedAt, end }: OpenSpan,
  ): void {
    if (operation.kind !== 'agent') return;
    const failed = defined({ 'error.type': end?.error?.type });
    const attributes = {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': operation.name,
      ...failed,
    };
    this.#telemetry.instruments?.agent(attributes, endedAt - startedAt, rounds);
  }

  #closeOrRest(place: string, open: OpenSpan): void {
    if (open.end !== undefined || this.#isOver)
      open.close(open.end ?? this.#restEnd(), systemClock.monotonic());
    else this.#resting.set(place, open);
  }

  #closeResting(place: string, end: SpanEnd = this.#restEnd()): void {
    const open = this.#resting.get(place);
    this.#resting.delete(place);
    open?.close(open.end ?? end, systemClock.monotonic());
  }

  #restEnd(): SpanEnd {
    return restEnd(this.#hasYielded ? 'yielded' : 'stopped');
  }

  #runOver(thrown: unknown): void {
    this.#isOver = true;
    for (const place of [...this.#resting.keys()]) this.#closeResting(place);
    this.#run.close(this.#runEnd(thrown), systemClock.monotonic());
  }

  #runEnd(thrown: unknown): SpanEnd {
    if (thrown === undefined) return this.#rootEnd ?? this.#restEnd();
    const end = restEnd('stopped');
    // A stop, or a loss of the run to another process, is no failure.
    if (isAdjutantError(thrown, 'run_stopped')) return end;
    return { ...end, error: { type: isAdjutantError(thrown) ? thrown.code : '_OTHER' } };
  }

  #hear(event: Event): void {
    switch (event.type) {
      case 'model_start':
        this.#nextRound(event);
        break;
      case 'model_end':
        this.#requestEnded(event);
        break;
      case 'tool_result':
        this.#toolEnded(event);
        break;
      case 'invocation_end':
        this.#invocationEnded(event);
        break;
      case 'invocation_yield':
        this.#yielded(event);
        break;
      case 'assistant':
      case 'thought':
      case 'tool_call':
        this.#said(event);
        break;
      default: {
        const note = noteOf(event, this.#telemetry.content);
        if (note !== undefined) this.#note(event.invocationId, note);
      }
    }
  }

  #note(path: string | undefined, { name, attributes }: SpanNote): void {
    const open = path === undefined ? undefined : this.#invocations.get(path)?.open;
    const span =
      open?.span ??
      (path !== undefined && rootOf(path) === this.#operation.runId ? this.#run.span : undefined);
    span?.addEvent(name, attributes);
  }

  #nextRound({ invocationId, round }: EventOf<'model_start'>): void {
    const invocation = this.#invocations.get(invocationId);
    if (invocation === undefined || invocation.round?.number === round) return;
    this.#endRound(invocation, systemClock.monotonic());
    const { session, runId } = this.#operation;
    const attributes = {
      'gen_ai.conversation.id': session,
      'gen_ai.agent.name': invocation.operation.name,
      'adjutant.run.id': runId,
      'adjutant.invocation.id': invocationId,
      'adjutant.round': round,
    };
    invocation.rounds++;
    invocation.round = {
      number: round,
      open: this.#start('round', invocation.open.context, { attributes }),
    };
  }

  #endRound({ operation, round }: OpenInvocation, endedAt: number): void {
    if (round === undefined) return;
    round.open.close(undefined, endedAt);
    const attributes = {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': operation.name,
    };
    this.#telemetry.instruments?.round(attributes, endedAt - round.open.startedAt);
  }

  #said(event: Event): void {
    const parts = this.#answers.get(event.invocationId ?? '');
    const part = parts === undefined ? undefined : answerPart(this.#operation.whole(event));
    if (part !== undefined) parts?.push(part);
  }

  #requestEnded(event: EventOf<'model_end'>): void {
    const { invocationId, attempt, round, substitutedBy, finishReason } = event;
    const request = this.#requests.get(invocationId);
    if (
      request === undefined ||
      request.operation.attempt !== attempt ||
      request.operation.round !== round
    ) {
      if (substitutedBy !== undefined)
        this.#note(invocationId, {
          name: 'adjutant.answer_given',
          attributes: { 'adjutant.substituted_by': substitutedBy },
        });
      return;
    }
    const { operation, open } = request;
    this.#requests.delete(invocationId);
    const parts = this.#answers.get(invocationId);
    this.#answers.delete(invocationId);
    if (parts !== undefined)
      open.span.setAttribute('gen_ai.output.messages', shown(outputMessages(parts, finishReason)));
    const end = modelEnd(event, this.#telemetry.content);
    this.#telemetry.measureModel(operation, event, end.error?.type);
    open.close(end, systemClock.monotonic());
  }

  #toolEnded(event: EventOf<'tool_result'>): void {
    const { callId, attempt, invocationId, late } = event;
    const tool = this.#tools.get(callId);
    const whole = this.#telemetry.content ? this.#operation.whole(event) : event;
    const end = toolEnd(whole, this.#telemetry.content);
    if (late !== true && tool !== undefined && tool.operation.attempt === attempt) {
      tool.open.finish(end);
      const failed = defined({ 'error.type': end.error?.type });
      const attributes = {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': tool.operation.name,
        ...failed,
      };
      this.#telemetry.instruments?.tool(attributes, event.durationMs);
    } else if (late !== true && this.#resting.has(callId)) this.#closeResting(callId, end);
    else this.#note(invocationId, resultNote(event));
  }

  #invocationEnded(event: EventOf<'invocation_end'>): void {
    const { invocationId, next } = event;
    const { content } = this.#telemetry;
    const end = invocationEnd(content ? this.#operation.whole(event) : event, content);
    const { runId } = this.#operation;
    if (isRootOf(invocationId, runId) && next === undefined) this.#rootEnd = end;
    const invocation = this.#invocations.get(invocationId);
    if (invocation !== undefined) invocation.open.finish(end);
    else this.#closeResting(invocationId, end);
  }

  #yielded({ invocationId, reason }: EventOf<'invocation_yield'>): void {
    if (rootOf(invocationId) !== this.#operation.runId) return;
    this.#hasYielded = true;
    this.#closeResting(invocationId, restEnd('yielded', reason));
  }
}
