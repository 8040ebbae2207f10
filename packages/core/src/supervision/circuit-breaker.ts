import type { CircuitBreakerOptions } from './options.ts';

const defaultFailures = 5;
const defaultResetAfterMs = 30_000;

/** What is known of the tools of a runtime: which of them fail again and again, and are left alone for a while. Times are milliseconds of any clock. */
export class CircuitBreakers {
  readonly #failures: number;
  readonly #resetAfterMs: number;

  constructor({ failures = defaultFailures, resetAfter = defaultResetAfterMs }: CircuitBreakerOptions = {}) {
    this.#failures = failures;
    this.#resetAfterMs = resetAfter;
  }

  get options(): Required<CircuitBreakerOptions> {
    return { failures: this.#failures, resetAfter: this.#resetAfterMs };
  }
}
