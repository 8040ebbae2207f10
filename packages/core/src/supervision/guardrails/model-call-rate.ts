import { checkOptions, InvalidOptionError } from '../../base/invalid-option.ts';
import { isCount, isNonEmptyText, isPositive, type OptionChecks } from '../../base/options.ts';
import type { Guardrail, ModelCallCheck } from '../guardrail.ts';

export interface ModelCallRateOptions {
  /** Model calls of one session that may begin within `perMs`. */
  readonly calls: number;
  /** Milliseconds. */
  readonly perMs: number;
  /** Text in place of an answer. @default a sentence that asks to try again later */
  readonly message?: string;
}

const optionChecks: OptionChecks<ModelCallRateOptions> = {
  calls: isCount,
  perMs: isPositive,
  message: isNonEmptyText,
};

/**
 * Refuses model calls of a session that come too fast. Counted from the ledger, so a restart does
 * not begin anew.
 * @throws InvalidOptionError
 */
export function modelCallRate(options: ModelCallRateOptions): Guardrail {
  checkOptions('modelCallRate', options, optionChecks);
  if (options.calls === undefined || options.perMs === undefined) {
    throw new InvalidOptionError({
      function: 'modelCallRate',
      reason: '`calls` and `perMs` are needed',
    });
  }
  const {
    calls,
    perMs,
    message = 'There were too many requests in a short time. Please try again later.',
  } = options;
  return Object.freeze({
    name: 'modelCallRate',
    modelCall: ({ at, calledAt }: ModelCallCheck) => {
      const since = at - perMs;
      let made = 0;
      for (const time of calledAt) {
        if (time <= since) return undefined;
        made++;
        if (made >= calls) {
          return {
            action: 'deny' as const,
            message,
            reasoning:
              `${calls} model calls have begun within ${perMs} ms, which is all that is ` +
              'allowed.',
          };
        }
      }
      return undefined;
    },
  });
}
