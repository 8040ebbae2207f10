import { expect, test } from 'vitest';
import { addressOf, fieldsOf, filtersOf } from './audit-filters.ts';

test('A filter goes into the address and comes back', () => {
  const fields = {
    principal: 'key:7k3m & co',
    action: 'createKey',
    outcome: 'denied',
    from: '2026-11-28T01:00',
    to: '2026-11-28T02:00',
  };
  const address = addressOf(fields);
  expect(fieldsOf(address.slice('/audit'.length))).toEqual(fields);
  expect(filtersOf(fields)).toEqual({
    principal: 'key:7k3m & co',
    action: 'createKey',
    outcome: 'denied',
    from: Date.parse('2026-11-28T01:00'),
    to: Date.parse('2026-11-28T02:00'),
  });
});

test('What is empty, and what nobody knows, filters nothing', () => {
  const fields = fieldsOf('?outcome=broken&from=soon&color=red&action=%20');
  expect(filtersOf(fields)).toEqual({});
  expect(addressOf(fieldsOf(''))).toBe('/audit');
});
