import type {
  CheckedCall,
  SupervisedCall,
  SupervisedResult,
} from '../../../effects/tool-call/supervisor.ts';
import { joinedWrites, noWrites } from '../../../effects/writes.ts';
import { decision, isDecision } from '../../../ledger/decisions/decision.ts';
import type { Event, EventDraft } from '../../../ledger/event.ts';
import type { Ledger } from '../../../ledger/ledger.ts';
import type { ToolResult } from '../../../ledger/tool-result.ts';
import type { CallState } from '../../../loop/call-state.ts';
import {
  type BreakerChange,
  breakerOutcome,
  type RecordedChange,
} from '../../../supervision/circuit-breaker.ts';
import { toolResult } from '../../../tools/result.ts';
import type { BodyFrame } from '../../frame/run-context.ts';
import { refusal } from './decision-draft.ts';
import type { ErrorRouting } from './error-routing.ts';
import type { CallStage } from './stage.ts';

const nothing: readonly never[] = Object.freeze([]);

/** Ledgers whose circuits this process knows. */
const learned = new WeakSet<Ledger>();

/** Yields the changes of circuits in a ledger since a time, newest first. */
function* changesIn(events: readonly Event[], since: number): Generator<RecordedChange> {
  for (let i = events.length - 1; i >= 0; i--) {
    const event = events[i] as Event;
    if (event.at <= since) return;
    if (event.type !== 'decision') continue;
    for (const change of ['open', 'half_open', 'close'] as const) {
      if (!isDecision(event, 'circuit_breaker', change) || event.data === undefined) continue;
      const { tool, failures } = event.data;
      yield { tool, change, failures, at: event.at };
    }
  }
}

interface CircuitStagePorts {
  readonly frame: BodyFrame;
  /** True when the agent is watched by circuit breakers. */
  readonly isOn: boolean;
  readonly routing: ErrorRouting | undefined;
}

/** Refuses calls of tools that failed too often in a row, for a while. */
export class CircuitStage implements CallStage {
  readonly #ports: CircuitStagePorts;

  constructor(ports: CircuitStagePorts) {
    this.#ports = ports;
    this.#learn();
  }

  /** Takes over the circuits that the ledger shows, when this process meets it. */
  #learn(): void {
    const breakers = this.#breakers;
    const { ledger, app } = this.#ports.frame.run;
    // A replay is told what was decided.
    if (breakers === undefined || ledger.ports.recording !== undefined || learned.has(ledger))
      return;
    learned.add(ledger);
    const now = app.clock.now();
    breakers.learn(changesIn(ledger.events, now - breakers.options.resetAfterMs), now);
  }

  check(call: SupervisedCall): CheckedCall | undefined {
    return this.#ask(call, false);
  }

  /** Checks a call again when its attempt begins, and counts it as the trial call if it is one. */
  admit(call: SupervisedCall): CheckedCall | undefined {
    return this.#ask(call, true);
  }

  /** Counts the result of an attempt; returns the decision when the breaker changed by it. */
  count({ tool, state }: SupervisedCall, result: ToolResult): readonly EventDraft[] {
    const { run } = this.#ports.frame;
    const breakers = this.#breakers;
    const outcome = breakerOutcome(result);
    if (breakers === undefined || (breakers.isQuiet && outcome !== 'failure')) return nothing;
    const change = breakers.record(tool.name, outcome, run.app.clock.now());
    return change === undefined ? nothing : [this.#changeDraft(tool.name, state, change)];
  }

  get #breakers() {
    return this.#ports.isOn ? this.#ports.frame.run.app.circuitBreakers : undefined;
  }

  #ask({ tool, state }: SupervisedCall, takes: boolean): CheckedCall | undefined {
    const { run, record } = this.#ports.frame;
    const breakers = this.#breakers;
    if (breakers === undefined) return undefined;
    const { recording } = run.ledger.ports;
    // The count of failures of a tool also comes from other sessions.
    const recorded = recording?.circuit({
      path: record.path,
      callId: state.call.callId,
      tool: tool.name,
    });
    if (recorded === undefined && breakers.isQuiet) return undefined;
    const now = run.app.clock.now();
    const admission =
      recorded ?? (takes ? breakers.admit(tool.name, now) : breakers.peek(tool.name, now));
    if (!admission.admitted) return this.#refused({ tool, state }, admission);
    if (!takes || admission.change === undefined) return undefined;
    const drafts = [this.#changeDraft(tool.name, state, admission.change)];
    return { guidance: [], writes: { drafts, extras: undefined } };
  }

  #refused(
    { tool, state }: Pick<SupervisedCall, 'tool' | 'state'>,
    { failures, retryInMs }: { readonly failures: number; readonly retryInMs: number },
  ): CheckedCall {
    const seconds = Math.ceil(retryInMs / 1_000);
    const result = toolResult.transient(
      `The tool ${tool.name} was not run: it failed ${failures} times in a row and is left ` +
        `alone for a while. It may work again in ${seconds} s.`,
      {
        errorType: 'circuit_open',
        alternatives: ['do something else first', 'do it without this tool'],
      },
    );
    const why = decision('circuit_breaker', 'refuse', {
      invocationId: this.#ports.frame.record.path,
      reasoning:
        `The tool ${tool.name} failed ${failures} times in a row; it is not called for another ` +
        `${seconds} s.`,
      alternatives: ['call it all the same'],
      data: { callId: state.call.callId, tool: tool.name, failures, retryInMs },
    });
    const open = refusal(result, why);
    const routed = this.#ports.routing?.fallBack(state, tool, result);
    const refused: SupervisedResult =
      routed === undefined
        ? open
        : { ...routed, writes: joinedWrites([open.writes, routed.writes]) };
    return { refused, guidance: [], writes: noWrites };
  }

  #changeDraft(tool: string, { call }: CallState, { change, failures }: BreakerChange): EventDraft {
    const { run, record } = this.#ports.frame;
    const resetAfter = run.app.circuitBreakers?.options.resetAfterMs ?? 0;
    const reasonings = {
      open:
        `The tool ${tool} failed ${failures} times in a row: it is not called for ` +
        `${resetAfter} ms.`,
      half_open:
        `The tool ${tool} was left alone for ${resetAfter} ms: one call is let through to ` +
        'see whether it works again.',
      close: `The tool ${tool} works again after ${failures} failures in a row.`,
    };
    const alternatives = {
      open: ['go on calling it'],
      half_open: ['wait longer'],
      close: ['wait longer'],
    };
    return decision('circuit_breaker', change, {
      invocationId: record.path,
      reasoning: reasonings[change],
      alternatives: alternatives[change],
      data: { tool, callId: call.callId, failures },
    });
  }
}
