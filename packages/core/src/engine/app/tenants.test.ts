import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { testClock } from '../../base/clocks/test-clock.ts';
import { systemHost } from '../../base/host.ts';
import { Tenants } from './tenants.ts';

interface Made {
  readonly name: string;
  isBusy: boolean;
}

const longAgo = 3_600_000;

function tenantsOn(clock = testClock()) {
  const tenants = new Tenants<Made>(clock, systemHost, ({ isBusy }) => isBusy);
  const get = (name: string): Made => tenants.get(name, () => ({ name, isBusy: false }));
  return { tenants, get, clock };
}

function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}

test('there is one object for each name, for as long as somebody has it', () => {
  const { tenants, get, clock } = tenantsOn();
  const first = get('a');
  expect(get('b')).not.toBe(first);
  clock.advance(longAgo);
  tenants.forgetIdle();
  expect(get('a')).toBe(first);
  expect(tenants.find('a')).toBe(first);
  expect(tenants.find('c')).toBeUndefined();
  expect(
    tenants
      .all()
      .map(({ name }) => name)
      .sort(),
  ).toEqual(['a', 'b']);
});

test('what nobody has asked for lately and does nothing goes; what is busy stays', async () => {
  const { tenants, get, clock } = tenantsOn();
  const makeMany = (): void => {
    for (let i = 0; i < 1_000; i++) get(`t${i}`).isBusy = i % 100 === 0;
  };
  makeMany();
  clock.advance(longAgo);
  get('late');
  tenants.forgetIdle();
  // A weakly referenced object stays until the turn of the event loop is over.
  await new Promise((resolve) => setImmediate(resolve));
  collectGarbage();
  const left = tenants.all().map(({ name }) => name);
  expect(left.filter((name) => name.endsWith('00') || name === 't0')).toHaveLength(10);
  expect(left).toContain('late');
  expect(left).toHaveLength(11);
});

test('what is closed is left alone until it is asked for again', () => {
  const { tenants, get } = tenantsOn();
  const made = get('a');
  tenants.close('a');
  expect([tenants.isClosed('a'), tenants.isClosed('b'), tenants.find('a')]).toEqual([
    true,
    false,
    made,
  ]);
  expect(get('a')).toBe(made);
  expect(tenants.isClosed('a')).toBe(false);
});
