/** Present name of an option, and what else is different about it. */
interface Renamed {
  readonly name: string;
  readonly remark?: string;
}

/**
 * Former names of options and their present ones. An option check answers a former name with the
 * present one, if the place has that.
 */
const renamedOptions: Readonly<Record<string, Renamed>> = {
  maxAttempts: { name: 'attempts' },
  maxRetries: { name: 'attempts', remark: 'and counts the first attempt too' },
  baseDelay: { name: 'initialDelayMs' },
  backoffMultiplier: { name: 'multiplier' },
  timeout: { name: 'timeoutMs' },
  branchTimeout: { name: 'branchTimeoutMs' },
  requestTimeout: { name: 'requestTimeoutMs' },
  ttl: { name: 'ttlMs' },
  expiresIn: { name: 'expiresInMs' },
  useWithin: { name: 'useWithinMs' },
  resetAfter: { name: 'resetAfterMs' },
  patience: { name: 'patienceMs' },
  slice: { name: 'sliceMs' },
  pause: { name: 'pauseMs' },
};

/** Returns the hint about a former name of one of these options; `undefined` for other names. */
export function renamedHint(name: string, options: readonly string[]): string | undefined {
  const renamed = Object.hasOwn(renamedOptions, name) ? renamedOptions[name] : undefined;
  if (renamed === undefined || !options.includes(renamed.name)) return undefined;
  const remark = renamed.remark === undefined ? '' : ` ${renamed.remark}`;
  return `it is called \`${renamed.name}\` now${remark}`;
}
