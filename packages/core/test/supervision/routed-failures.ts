import type { ToolResultStatus } from '../../src/ledger/tool-result.ts';
import { type RoutedFailure, type RoutedTool, route } from '../../src/supervision/error-router.ts';
import type { ErrorRoutingOptions } from '../../src/supervision/options.ts';

export const defaults: Required<ErrorRoutingOptions> = {
  chains: {},
  severities: {},
  bySeverity: {},
  attempts: 3,
  initialDelayMs: 1_000,
  multiplier: 2,
  jitter: false,
  maxDelayMs: 30_000,
  escalateTo: 'caller',
};
export const plain: RoutedTool = { ownRetry: false };
export const withFallback: RoutedTool = { ownRetry: false, fallback: 'other' };

export function failure(
  errorType: string,
  status: ToolResultStatus,
  more: Partial<RoutedFailure> = {},
): RoutedFailure {
  return {
    errorType,
    status,
    wasMade: true,
    mayRepeat: true,
    hasRaw: false,
    escalate: false,
    ...more,
  };
}

/** Strategies of the attempts 1, 2, 3, … */
export function strategies(
  of: RoutedFailure,
  tool: RoutedTool = plain,
  options: Partial<ErrorRoutingOptions> = {},
  attempts = 4,
): readonly string[] {
  return Array.from(
    { length: attempts },
    (_, index) => route(of, index + 1, { ...defaults, ...options }, tool).strategy,
  );
}
