import { defined } from '../base/defined.ts';
import {
  isCount,
  isGroup,
  isPositive,
  isPositiveOrNone,
  type OptionCheck,
} from '../base/options.ts';
import {
  type ResolvedRetry,
  type RetryOptions,
  resolveRetry,
  retryChecks,
} from '../base/retry-options.ts';
import { defaultModelRetry } from '../models/retry.ts';

/**
 * Settings of all agents, tools and models of an app that say nothing of their own about them. An
 * option of an agent, a tool, a call or a model comes before the default of its runtime.
 */
export interface RuntimeDefaults {
  /** Milliseconds for one attempt of a tool. @default 30_000 */
  readonly toolTimeoutMs?: number;
  /**
   * Milliseconds for one attempt of a tool that calls another runnable, and for an agent that is
   * called with `ctx.call`, `ctx.spawn` or `ctx.dispatch`. @default 120_000
   */
  readonly agentCallTimeoutMs?: number;
  /** Milliseconds in which an approval can be answered. @default 1_800_000 (30 minutes) */
  readonly approvalExpiresInMs?: number;
  /**
   * Milliseconds in which the input that a tool waits for can be given, and a question of a step
   * answered, or `false` for no end.
   * @default 2_592_000_000 (30 days)
   */
  readonly inputExpiresInMs?: number | false;
  /**
   * Milliseconds after which a run that waits for nothing but a message is cancelled, or `false`
   * for no end. @default 2_592_000_000 (30 days)
   */
  readonly messageExpiresInMs?: number | false;
  /** Tool calls of one round that run at the same time. @default 16 */
  readonly toolConcurrency?: number;
  /** Milliseconds for one attempt of a model call. @default 60_000 */
  readonly modelTimeoutMs?: number;
  /** Attempts of model calls, option by option. @default three attempts, with random delays */
  readonly modelRetry?: RetryOptions;
}

/** Defaults of a runtime with the built-in ones filled in. */
export interface ResolvedDefaults extends Required<RuntimeDefaults> {
  readonly modelRetry: ResolvedRetry;
}

/** Requirement on the option `defaults`. */
export const isDefaults: OptionCheck = isGroup<RuntimeDefaults>({
  toolTimeoutMs: isPositive,
  agentCallTimeoutMs: isPositive,
  approvalExpiresInMs: isPositive,
  inputExpiresInMs: isPositiveOrNone,
  messageExpiresInMs: isPositiveOrNone,
  toolConcurrency: isCount,
  modelTimeoutMs: isPositive,
  modelRetry: isGroup(retryChecks),
});

const dayMs = 86_400_000;

const builtIn: ResolvedDefaults = Object.freeze({
  toolTimeoutMs: 30_000,
  agentCallTimeoutMs: 120_000,
  approvalExpiresInMs: 30 * 60_000,
  inputExpiresInMs: 30 * dayMs,
  messageExpiresInMs: 30 * dayMs,
  toolConcurrency: 16,
  modelTimeoutMs: 60_000,
  modelRetry: defaultModelRetry,
});

/** Fills in the built-in defaults, option by option. */
export function resolveDefaults(options: RuntimeDefaults = {}): ResolvedDefaults {
  const { toolTimeoutMs, agentCallTimeoutMs, approvalExpiresInMs } = options;
  const { inputExpiresInMs, messageExpiresInMs } = options;
  const { toolConcurrency, modelTimeoutMs, modelRetry } = options;
  return Object.freeze({
    ...builtIn,
    ...defined({
      toolTimeoutMs,
      agentCallTimeoutMs,
      approvalExpiresInMs,
      inputExpiresInMs,
      messageExpiresInMs,
      toolConcurrency,
      modelTimeoutMs,
    }),
    modelRetry: resolveRetry(modelRetry ?? {}, builtIn.modelRetry),
  });
}
