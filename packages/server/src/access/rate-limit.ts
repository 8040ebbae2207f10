import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { RequestRefusedError } from '../http/problem.ts';

const windowSeconds = 60;

/** Remaining allowance of a caller, as headers (draft-ietf-httpapi-ratelimit-headers). */
export type LimitHeaders = Readonly<Record<string, string>>;

/** Counts what each caller does in a minute, in this process. */
export class RateLimit {
  readonly #name: string;
  readonly #perMinute: number;
  readonly #limiter: RateLimiterMemory;

  /** @param name of the policy, in headers */
  constructor(name: string, perMinute: number) {
    this.#name = name;
    this.#perMinute = perMinute;
    this.#limiter = new RateLimiterMemory({
      keyPrefix: name,
      points: perMinute,
      duration: windowSeconds,
    });
  }

  /** Counts one more. @throws RequestRefusedError `rate_limited` (429) when it is one too many */
  async count(caller: string): Promise<LimitHeaders> {
    try {
      return this.#headers(await this.#limiter.consume(caller));
    } catch (error) {
      if (!(error instanceof RateLimiterRes)) throw error;
      const seconds = secondsOf(error);
      throw new RequestRefusedError(
        429,
        'rate_limited',
        `This caller may make ${this.#perMinute} such requests in a minute. Try again in ` +
          `${seconds} s.`,
        { perMinute: this.#perMinute, retryAfter: seconds },
        { ...this.#headers(error), 'retry-after': String(seconds) },
      );
    }
  }

  #headers(result: RateLimiterRes): LimitHeaders {
    return {
      'ratelimit-policy': `"${this.#name}";q=${this.#perMinute};w=${windowSeconds}`,
      ratelimit: `"${this.#name}";r=${result.remainingPoints};t=${secondsOf(result)}`,
    };
  }
}

function secondsOf({ msBeforeNext }: RateLimiterRes): number {
  return Math.max(1, Math.ceil(msBeforeNext / 1_000));
}
