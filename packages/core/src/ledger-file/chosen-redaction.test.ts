import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { exported, resultIn, sessionWith } from '../../test/ledger-file/exported-result.ts';
import type { JsonObject } from '../base/json.ts';
import { agent } from '../runnables/agent.ts';
import { step } from '../runnables/step.ts';
import { runtime } from '../runtime.ts';
import { scriptedModel } from '../testing/kit/scripted-model.ts';
import { runTree } from '../views/index.ts';
import { exportLedger } from './export-ledger.ts';
import { ledgerFileText } from './ledger-file.ts';
import { parseLedgerFile } from './read-ledger-file.ts';

describe('chosen fields', () => {
  const customer = {
    name: 'Ann Lee',
    email: 'ann@example.com',
    address: { city: 'Bern', zip: 3011 },
    orders: [{ cents: 4200, note: 'for Ann Lee' }],
  };

  test('go by name, with everything below them, wherever their values stand', async () => {
    const file = await exportLedger(
      await sessionWith(
        { customer, log: 'ANN@EXAMPLE.COM of Bern, zip 3011, wrote' },
        'I am ann@example.com',
      ),
      {
        redact: { fields: ['email', 'address'] },
      },
    );
    expect(resultIn(file)).toEqual({
      customer: {
        ...customer,
        email: '[redacted 1]',
        address: { city: '[redacted 2]', zip: 990_000_003 },
      },
      log: '[redacted 1] of [redacted 2], zip 990000003, wrote',
    });
    expect(file.events.find(({ type }) => type === 'user')).toMatchObject({
      text: 'I am [redacted 1]',
    });
    expect(file.redaction).toEqual({
      fields: ['email', 'address'],
      patterns: [],
      replacements: ['[redacted 1]', '[redacted 2]', 990_000_003],
      removed: { 'field address': 2, 'field email': 1 },
    });
  });

  test('go by the end of their path, below the name of the tool', async () => {
    const value = { name: 'Ann Lee', pet: { name: 'Rex' } };
    expect(await exported(value, { fields: ['pet.name'] })).toEqual({
      name: 'Ann Lee',
      pet: { name: '[redacted 1]' },
    });
    expect(await exported(value, { fields: ['look.name'] })).toEqual({
      name: '[redacted 1]',
      pet: { name: 'Rex' },
    });
  });

  test('also from JSON within texts, and from JSON within that', async () => {
    const inner = JSON.stringify({ email: 'a"b', pin: 7, other: 1 });
    const value = {
      said: `look({"email":"ann", "pin": 12.5, "city": "Bern"}) and ${inner}`,
      nested: `x ${JSON.stringify(JSON.stringify({ email: 'zoe' }))}`,
    };
    const redacted = (await exported(value, { fields: ['email', 'pin'] })) as JsonObject;
    expect(redacted['said']).toMatch(
      /^look\(\{"email":"\[redacted \d\]", "pin": 99000000\d, "city": "Bern"\}\) and \{"email":"\[redacted \d\]","pin":99000000\d,"other":1\}$/,
    );
    expect(redacted['nested']).toMatch(/^x "\{\\"email\\":\\"\[redacted \d\]\\"\}"$/);
  });

  test('of the state of a scope', async () => {
    const app = runtime({ app: 'shop' });
    const session = await app.sessions.open({ userId: 'ann' });
    session.state.update({ city: 'Bern' });
    (session.state as unknown as { user: { update(values: object): void } }).user.update({
      city: 'Basel',
    });
    const file = await exportLedger(session, { redact: { fields: ['user.city'] } });
    const changes = file.events.flatMap((event) =>
      event.type === 'state_change' ? event.changes : [],
    );
    expect(changes).toEqual([
      { key: 'city', newValue: 'Bern' },
      { key: 'city', newValue: '[redacted 1]' },
    ]);
  });

  test('never take what holds the ledger together', async () => {
    const session = await sessionWith({
      status: 'weird-status',
      type: 'weird-type',
      name: 'clerk',
    });
    const file = await exportLedger(session, {
      redact: { fields: ['status', 'type', 'name', 'role', 'text', 'kind'] },
    });
    expect(resultIn(file)).toEqual({
      status: '[redacted 1]',
      type: '[redacted 2]',
      name: '[redacted 3]',
    });
    expect(parseLedgerFile(ledgerFileText(file)).events.map(({ type }) => type)).toEqual(
      session.events.map(({ type }) => type),
    );
    expect(runTree(file.events)).toMatchObject([{ name: 'clerk', status: 'completed' }]);
  });
});

describe('chosen patterns', () => {
  test('go from every text, and equal values become equal', async () => {
    const patterns = [/order \d+/i, /[A-Z]{2}\d{2}-\d{4}/];
    expect(
      await exported(
        { a: 'Order 17 and order 18', b: 'AB12-3456 for Order 17', c: ['order 18'] },
        { patterns },
      ),
    ).toEqual({
      a: '[redacted 1] and [redacted 2]',
      b: '[redacted 3] for [redacted 1]',
      c: ['[redacted 2]'],
    });
  });

  test('are written down, but not those that have a value themselves', async () => {
    const session = await sessionWith('The word is swordfish-1.');
    const file = await exportLedger(session, {
      redact: { patterns: [/swordfish-1/, /the w\w+/gi], fields: ['email'] },
    });
    expect(ledgerFileText(file)).not.toContain('swordfish');
    expect(file.redaction).toMatchObject({
      patterns: [{ source: 'the w\\w+', flags: 'gi' }],
      removed: { 'pattern [redacted]': 1, 'pattern the w\\w+': 1 },
    });
  });

  test('and fields stay written down where only the beginning of a value reads like them', async () => {
    const file = await exportLedger(await sessionWith({ customer: 'customer-17-of-many' }), {
      redact: { fields: ['customer'] },
    });
    expect(file.redaction).toMatchObject({
      fields: ['customer'],
      removed: { 'field customer': 1 },
    });
  });

  test('`replace` says what stands there', async () => {
    const replace = ({ rule, number }: { rule: string; number: number }): string =>
      `${rule.split(' ')[0]}-${number}@example.com`;
    expect(
      await exported(
        { email: 'ann@shop.test', by: 'ann@shop.test' },
        { fields: ['email'], replace },
      ),
    ).toEqual({
      email: 'field-1@example.com',
      by: 'field-1@example.com',
    });
  });
});

describe('hashes', () => {
  test('of inputs and contents are reckoned anew, so that no value can be guessed from them', async () => {
    const inner = agent({
      name: 'inner',
      model: scriptedModel([{ text: 'ok' }]),
      input: z.object({ pin: z.string() }),
    });
    const outer = step({
      name: 'outer',
      execute: async (ctx) => void (await ctx.call(inner, { data: { pin: '0042-7' } })),
    });
    const { session } = await runtime({ app: 'shop' }).run(outer);
    const before = session.events.findLast((event) => event.type === 'invocation_start');
    const file = await exportLedger(session, { redact: { fields: ['pin'] } });
    const after = file.events.findLast((event) => event.type === 'invocation_start');
    expect(after?.inputHash).toMatch(/^[0-9a-f]{20}$/);
    expect(after?.inputHash).not.toBe(before?.inputHash);
    expect(after?.invocationId).toBe(
      before?.invocationId.replace(before.inputHash ?? '', after?.inputHash ?? ''),
    );
    expect(ledgerFileText(file)).not.toContain(before?.inputHash);
  });
});

describe('options that cannot work are refused', () => {
  test.for<[unknown, string]>([
    [{ redact: { field: ['a'] } }, 'did you mean `fields`?'],
    [{ redacted: {} }, 'did you mean `redact`?'],
    [{ redact: { fields: [''] } }, '`fields` must be'],
    [{ redact: { fields: ['a..b'] } }, '`fields` must be'],
    [{ redact: { patterns: ['x'] } }, '`patterns` must be a list of regular expressions'],
    [{ redact: { patterns: [/x*/] } }, 'also finds nothing at all'],
    [{ redact: { patterns: [/(a+)+b/] } }, 'may take for ever'],
    [{ redact: { patterns: [/(?:a|aa)+$/] } }, 'may take for ever'],
    [{ redact: { patterns: [/((?:ab)*c?)*d/] } }, 'may take for ever'],
    [{ redact: { replace: 'x' } }, '`replace` must be a function'],
    [{ redact: { fields: ['email'], replace: () => '' } }, '`replace` must give a text'],
    [{ redact: { fields: ['email'], replace: () => 'a/b' } }, '`replace` must give a text'],
    [
      { redact: { fields: ['email'], replace: () => 'x'.repeat(501) } },
      '`replace` must give a text of 1 to 500 characters',
    ],
  ])('%j', async ([options, message]) => {
    const session = await sessionWith({ email: 'ann@example.com' });
    await expect(exportLedger(session, options as never)).rejects.toMatchObject({
      code: 'invalid_option',
      message: expect.stringContaining(message),
    });
  });

  test('a replacement that has the value itself', async () => {
    const session = await sessionWith({ email: 'ann@example.com' });
    const exporting = exportLedger(session, {
      redact: { fields: ['email'], replace: () => 'was ann@example.com' },
    });
    await expect(exporting).rejects.toMatchObject({ code: 'redaction_incomplete' });
  });
});
