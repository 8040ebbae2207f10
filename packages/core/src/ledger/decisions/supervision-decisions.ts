import type { StopReason } from '../events/invocation-events.ts';
import type { Failing } from './decision-data.ts';
import type { Severity } from './severity.ts';

/** A limit with what was used of it. */
type LimitData = {
  readonly reason: StopReason;
  readonly used: number;
  readonly limit: number;
  /** Owner of the limit; missing in older ledgers. */
  readonly of?: 'agent' | 'run';
  readonly path?: string;
  /** Need of the next call, when less than that is left. */
  readonly needed?: number;
};

type RoutingData = {
  readonly callId: string;
  readonly tool: string;
  readonly errorType?: string;
  readonly attempt?: number;
  readonly delayMs?: number;
  /** Weight of the failure, where severities are configured. */
  readonly severity?: Severity;
  /** Tool that is run in the place of `tool`. */
  readonly fallback?: string;
};

type LoopData = {
  readonly callId: string;
  readonly tool: string;
  readonly detector: string;
  readonly count: number;
};

type CircuitData = {
  readonly tool: string;
  readonly callId: string;
  readonly failures: number;
};

/** Data of a guardrail's decision. It never holds the checked value. */
type GuardrailData = {
  readonly point: 'input' | 'modelCall' | 'output' | 'toolCall' | 'toolResult';
  readonly guardrail: string;
  readonly round: number;
  readonly tool?: string;
  readonly callId?: string;
  /** `seq` of the checked message. */
  readonly seq?: number;
  /** Text that replaces what was denied. */
  readonly message?: string;
};

/** Decisions of the supervision about calls, limits and permissions, with their data. */
export interface SupervisionDecisions {
  readonly loop_detector: { readonly warn: LoopData; readonly block: LoopData };
  readonly error_router: {
    readonly retry: RoutingData;
    readonly backoff: RoutingData;
    readonly hint: RoutingData;
    readonly replan: RoutingData;
    readonly decompose: RoutingData;
    readonly raw: RoutingData;
    readonly fallbackTool: RoutingData;
    /** With `failure` when the caller of the agent is to deal with the error. */
    readonly escalate: RoutingData &
      Partial<Failing> & { readonly escalateTo: 'caller' | 'human' | 'failures' };
    readonly report: RoutingData;
  };
  readonly circuit_breaker: {
    readonly open: CircuitData;
    readonly half_open: CircuitData;
    readonly close: CircuitData;
    readonly refuse: CircuitData & { readonly retryInMs: number };
  };
  readonly limits: {
    readonly warn: LimitData;
    readonly exhausted: LimitData;
    /** Own limits of a run, by kind. */
    readonly set: {
      readonly rounds?: number;
      readonly tokens?: number;
      readonly cost?: number;
      readonly errors?: number;
      readonly depth?: number;
    };
    /** Cancel of a run for which no message came in time. */
    readonly message_expired: { readonly expiresAt: number };
    readonly too_many_waiting: {
      /** Missing for sessions without a user. */
      readonly user?: string;
      readonly waiting: number;
      readonly limit: number;
    };
    readonly cost_unknown: { readonly model: string; readonly limit: number };
  };
  readonly guardrail: {
    readonly deny: GuardrailData;
    readonly guide: GuardrailData;
    readonly confirm: GuardrailData;
    readonly transform: GuardrailData;
  };
  readonly result_check: {
    readonly doubt: {
      readonly tool: string;
      readonly check: string;
      readonly confidence?: number;
    };
  };
  readonly permissions: {
    readonly grant: { readonly permissions: readonly string[] };
    readonly revoke: { readonly permissions: readonly string[] };
    readonly refuse: {
      readonly callId: string;
      readonly tool: string;
      readonly missing: readonly string[];
    };
  };
}
