import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { secret } from '../../base/secret.ts';
import { isApprovals, type TokenClaims, TokenSigner } from './approval-token.ts';
import { ApprovalTokenError } from './errors.ts';

const keyA = { id: 'a', secret: 'a'.repeat(32) };
const keyB = { id: 'b', secret: secret('approvals', 'b'.repeat(32)) };
const claims: TokenClaims = {
  requestId: 'req_1',
  session: 's',
  fingerprint: 'f',
  decisions: ['approve', 'reject'],
  expiresAt: 1_000,
};

function refusalOf(read: () => unknown): string {
  try {
    read();
  } catch (error) {
    if (error instanceof ApprovalTokenError) return error.reason;
    throw error;
  }
  return 'taken';
}

describe('a token', () => {
  test('says what was signed, in characters that fit into an address', () => {
    const token = new TokenSigner([keyA]).sign({ ...claims, by: 'user:ann' });
    expect(token).toMatch(/^[\w.-]+$/);
    expect(new TokenSigner([keyA]).read(token, 999)).toEqual({ ...claims, by: 'user:ann' });
  });

  test('names its tenant, which counts only when the signature fits', () => {
    const signer = new TokenSigner([keyA]);
    const token = signer.sign({ ...claims, tenant: 'acme' });
    expect(signer.read(token, 0)).toEqual({ ...claims, tenant: 'acme' });
    expect(signer.tenantOf(token)).toBe('acme');
    expect(signer.tenantOf(signer.sign(claims))).toBeUndefined();
    expect(new TokenSigner([keyB]).tenantOf(token)).toBeUndefined();
    expect(signer.tenantOf(`${token.slice(0, -1)}_`)).toBeUndefined();
  });

  test('is read with any of the keys, and signed with the first', () => {
    const old = new TokenSigner([keyA]).sign(claims);
    const fresh = new TokenSigner([keyB, keyA]).sign(claims);
    for (const token of [old, fresh])
      expect(new TokenSigner([keyB, keyA]).read(token, 0)).toEqual(claims);
    expect(refusalOf(() => new TokenSigner([keyB]).read(old, 0))).toBe('unknown_key');
    expect(new TokenSigner([keyB]).read(fresh, 0)).toEqual(claims);
  });

  test('is refused when its time is over, or when another key of the same name signed it', () => {
    const token = new TokenSigner([keyA]).sign(claims);
    expect(refusalOf(() => new TokenSigner([keyA]).read(token, 1_000))).toBe('expired');
    expect(
      refusalOf(() => new TokenSigner([{ ...keyA, secret: 'x'.repeat(32) }]).read(token, 0)),
    ).toBe('forged');
  });

  test.each([
    '',
    'x',
    'adj1.e30.e30',
    'adj1..',
    `adj2.${Buffer.from('[]').toString('base64url')}.x`,
    undefined,
  ])('is none: %j', (text) => {
    expect(refusalOf(() => new TokenSigner([keyA]).read(text as string, 0))).toBe('malformed');
  });

  test('is refused when any character of it is another', () => {
    const signer = new TokenSigner([keyA]);
    const token = signer.sign(claims);
    const alphabet = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.'];
    fc.assert(
      fc.property(fc.nat(token.length - 1), fc.constantFrom(...alphabet), (place, character) => {
        fc.pre(token[place] !== character);
        const altered = token.slice(0, place) + character + token.slice(place + 1);
        expect(['malformed', 'unknown_key', 'forged']).toContain(
          refusalOf(() => signer.read(altered, 0)),
        );
      }),
    );
  });

  test('is refused when what it says is exchanged for something else', () => {
    const signer = new TokenSigner([keyA]);
    const [version, , mac] = signer.sign({ ...claims, decisions: ['reject'] }).split('.');
    const [, body] = signer.sign(claims).split('.');
    expect(refusalOf(() => signer.read(`${version}.${body}.${mac}`, 0))).toBe('forged');
  });
});

test('keys are checked', () => {
  expect(isApprovals({ keys: [keyA, keyB] })).toBeUndefined();
  expect(isApprovals({ keys: [] })).toMatch(/at least one/);
  expect(isApprovals({ keys: [{ id: 'a', secret: 'short' }] })).toMatch(/at least 32 bytes/);
  expect(isApprovals({ keys: [{ id: 'a', secret: secret('short', 'short') }] })).toMatch(
    /at least 32 bytes/,
  );
  expect(isApprovals({ keys: [keyA, { ...keyA }] })).toMatch(/different ids/);
  expect(isApprovals({ keys: [{ id: 'a' }] })).toMatch(/`secret`/);
  expect(isApprovals({ keys: [{ secret: keyA.secret }] })).toMatch(/`id`/);
  expect(isApprovals({ keys: [keyA], url: '' })).toMatch(/`url`/);
  expect(isApprovals({ keys: [keyA], link: '' })).toMatch(/`keys`/);
});
