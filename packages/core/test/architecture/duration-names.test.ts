import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../../../..');

/** Optional numbers, as options have them, with the comment before each. */
interface OptionalNumber {
  readonly place: string;
  readonly name: string;
  readonly comment: string;
}

/** Names that say a length of time without its unit. */
const unitless =
  /^(timeout|delay|ttl|expiresIn|useWithin|keepFor|patience|grace|heartbeat|interval|pause|slice)$|(Timeout|Delay|Ttl|Patience|Interval|Heartbeat)$/;

/** Events are stored, so their fields keep the names that ledgers have. */
const stored = 'packages/core/src/ledger/events/';

function optionalNumbers(path: string, source: string): OptionalNumber[] {
  const member = /(?:\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*)?readonly (\w+)\?: number\b/g;
  return [...source.matchAll(member)].map(([, comment = '', name = '']) => ({
    place: `${path} ${name}`,
    name,
    comment: comment.replace(/\s*\*\s*/g, ' '),
  }));
}

const found = globSync('packages/{core,server}/src/**/*.ts', { cwd: root })
  .filter((path) => !/\.(test|fixture)\.ts$/.test(path) && !path.startsWith(stored))
  .flatMap((path) => optionalNumbers(path, readFileSync(join(root, path), 'utf8')));

/** A point in time is no length of time. */
function isDuration({ comment }: OptionalNumber): boolean {
  return /milliseconds/i.test(comment) && !/epoch milliseconds/i.test(comment);
}

test('options that are milliseconds end in `Ms`', () => {
  expect(found.length).toBeGreaterThan(100);
  const wrong = found.filter((option) => isDuration(option) && !option.name.endsWith('Ms'));
  expect(wrong.map(({ place }) => place)).toEqual([]);
});

test('no option is a length of time without its unit', () => {
  expect(found.filter(({ name }) => unitless.test(name)).map(({ place }) => place)).toEqual([]);
});

test('the rule sees what it must', () => {
  const source = `export interface Options {
  /** Milliseconds for one attempt. */
  readonly wait?: number;
  /**
   * Epoch milliseconds.
   */
  readonly endsAt?: number;
  readonly ttl?: number;
}`;
  const [wait, endsAt, ttl] = optionalNumbers('a.ts', source) as [
    OptionalNumber,
    OptionalNumber,
    OptionalNumber,
  ];
  expect([wait, endsAt, ttl].map(isDuration)).toEqual([true, false, false]);
  expect(unitless.test(ttl.name)).toBe(true);
});
