import { secret } from 'adjutant';
import {
  type IncomingWebhook,
  type OutgoingWebhook,
  signWebhook,
  verifyWebhook,
} from 'adjutant/triggers';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';

const oldSecret = `whsec_${Buffer.alloc(24, 1).toString('base64')}`;
const newSecret = `whsec_${Buffer.alloc(32, 2).toString('base64')}`;
const sentAt = Date.parse('2027-03-14T07:00:00.250Z');
const body = '{"type":"invoice.paid","total":"49,90 €"}';

function sign(changes: Partial<OutgoingWebhook> = {}) {
  return signWebhook({ secret: oldSecret, id: 'msg_1', timestamp: sentAt, body, ...changes });
}

function verify(changes: Partial<IncomingWebhook> = {}) {
  const incoming = { secret: oldSecret, headers: sign(), body: bytes(body), now: sentAt };
  return verifyWebhook({ ...incoming, ...changes });
}

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

describe('signWebhook', () => {
  test('makes the headers that the library of the standard makes', () => {
    const others = new Webhook(oldSecret).sign('msg_1', new Date(sentAt), body);
    expect(sign()).toEqual({
      'webhook-id': 'msg_1',
      'webhook-timestamp': '1805007600',
      'webhook-signature': others,
    });
    expect(sign({ body: bytes(body) })).toEqual(sign());
    expect(sign({ secret: oldSecret.replace('whsec_', '') })).toEqual(sign());
    expect(sign({ secret: secret('hook', oldSecret) })).toEqual(sign());
  });

  test('signs with each of two secrets while they change', () => {
    const [first, second] = sign({ secret: [newSecret, oldSecret] })['webhook-signature'].split(
      ' ',
    );
    expect(first).toBe(sign({ secret: newSecret })['webhook-signature']);
    expect(second).toBe(sign()['webhook-signature']);
  });

  test.each<[string, Partial<OutgoingWebhook>, string]>([
    ['a short secret', { secret: `whsec_${'A'.repeat(20)}` }, '`secret` has 15 bytes'],
    ['text that is not base64', { secret: 'whsec_correct horse' }, '`secret` is not base64'],
    ['a private key', { secret: `whsk_${'A'.repeat(40)}` }, 'another scheme (ed25519)'],
    ['no secret', { secret: [] }, 'an empty list'],
    ['a secret that is missing', { secret: undefined as unknown as string }, 'is not a string'],
    ['a name with a full stop', { id: 'a.1' }, 'without a full stop, not "a.1"'],
    ['an empty name', { id: '' }, '1 to 256 visible characters'],
    ['a name with a line break', { id: 'a\r\nx: y' }, 'visible characters'],
    ['no instant', { timestamp: Number.NaN }, '`timestamp` must be milliseconds since 1970'],
    ['a body that is an object', { body: {} as unknown as string }, '`body` must be the text'],
  ])('refuses %s', (_, changes, message) => {
    expect(() => sign(changes)).toThrow(
      expect.objectContaining({
        code: 'invalid_option',
        message: expect.stringContaining(message),
      }),
    );
  });

  test('does not show the secret that it refuses', () => {
    expect(() => sign({ secret: 'whsec_my password' })).toThrow(/^(?!.*password)/s);
  });
});

describe('verifyWebhook', () => {
  test('accepts what the library of the standard signs', () => {
    const headers = {
      'Webhook-Id': 'msg_1',
      'Webhook-Timestamp': '1805007600',
      'Webhook-Signature': new Webhook(oldSecret).sign('msg_1', new Date(sentAt), body),
    };
    const accepted = {
      accepted: true,
      key: 'msg_1',
      bodyHash: expect.stringMatching(/^[0-9a-f]{64}$/),
      timestamp: sentAt - 250,
    };
    expect(verify({ headers })).toEqual(accepted);
    expect(verify({ headers: new Headers(headers) })).toEqual(accepted);
    const ofAnotherPackage = { get: (name: string) => new Headers(headers).get(name) };
    expect(verify({ headers: ofAnotherPackage })).toEqual(accepted);
  });

  test('webhook_same_id_other_body: one key for all attempts, a hash for each body', () => {
    const again = sentAt + 60_000;
    const first = verify();
    const second = verify({ headers: sign({ timestamp: again }), now: again });
    const other = verify({ headers: sign({ body: '{}' }), body: bytes('{}') });
    expect(second).toEqual({ ...first, timestamp: again - 250 });
    expect(other).toMatchObject({ key: 'msg_1' });
    expect(other).not.toMatchObject({ bodyHash: (first as { bodyHash: string }).bodyHash });
  });

  test('takes any of its secrets and any of the signatures', () => {
    const rotating = sign({ secret: [newSecret, oldSecret] });
    expect(verify({ headers: rotating })).toMatchObject({ accepted: true });
    expect(verify({ secret: [newSecret, oldSecret] })).toMatchObject({ accepted: true });
    const withOthers = `v1a,AAAA nonsense v1,AAAA ${sign()['webhook-signature']}`;
    expect(verify({ headers: { ...sign(), 'webhook-signature': withOthers } })).toMatchObject({
      accepted: true,
    });
  });

  const headers = sign();
  test.each<[string, Partial<IncomingWebhook>, string, string]>([
    ['no id', { headers: { ...headers, 'webhook-id': undefined } }, 'missing_header', 'webhook-id'],
    ['no headers', { headers: {} }, 'missing_header', 'The header webhook-id is missing.'],
    [
      'an empty signature',
      { headers: { ...headers, 'webhook-signature': ' ' } },
      'missing_header',
      'The header webhook-signature is missing.',
    ],
    [
      'an id with a full stop',
      { headers: { ...headers, 'webhook-id': 'msg_1.1805007600' } },
      'malformed_header',
      'webhook-id',
    ],
    [
      'an id twice',
      { headers: { ...headers, 'webhook-id': ['msg_1', 'msg_2'] } },
      'malformed_header',
      'webhook-id',
    ],
    [
      'an instant that is no number',
      { headers: { ...headers, 'webhook-timestamp': '0x10' } },
      'malformed_header',
      'webhook-timestamp',
    ],
    ['another secret', { secret: newSecret }, 'bad_signature', 'No signature fits'],
    ['another body', { body: bytes(`${body} `) }, 'bad_signature', 'No signature fits'],
    [
      'another id',
      { headers: { ...headers, 'webhook-id': 'msg_2' } },
      'bad_signature',
      'No signature fits',
    ],
    [
      'a later instant',
      { headers: { ...headers, 'webhook-timestamp': '1805007601' } },
      'bad_signature',
      'No signature fits',
    ],
    [
      'a signature of another version',
      { headers: { ...headers, 'webhook-signature': sign()['webhook-signature'].slice(1) } },
      'bad_signature',
      'No signature fits',
    ],
    ['an old delivery', { now: sentAt + 300_001 }, 'too_old', 'more than 300000 ms ago'],
    ['one of the future', { now: sentAt - 301_000 }, 'too_new', '300000 ms in the future'],
    ['one older than allowed', { now: sentAt + 10, toleranceMs: 5 }, 'too_old', '5 ms ago'],
    ['a large body', { maxBytes: 10 }, 'too_large', 'more than 10 bytes'],
  ])('refuses %s', (_, changes, reason, message) => {
    const refusal = verify(changes);
    expect(refusal).toMatchObject({ accepted: false, reason });
    expect(refusal).toMatchObject({ message: expect.stringContaining(message) });
  });

  test('tells a forger nothing about the age of a delivery', () => {
    const forged = { headers: { ...headers, 'webhook-signature': 'v1,AAAA' } };
    expect(verify({ ...forged, now: sentAt + 1e9 })).toMatchObject({ reason: 'bad_signature' });
  });

  test('refuses any change of one byte, and accepts every body that it signed', () => {
    const any = fc.uint8Array({ minLength: 1, maxLength: 200 });
    fc.assert(
      fc.property(any, fc.nat(), fc.integer({ min: 1, max: 255 }), (sent, place, change) => {
        const signed = sign({ body: sent });
        expect(verify({ headers: signed, body: sent })).toMatchObject({ accepted: true });
        const changed = Uint8Array.from(sent);
        const at = place % sent.length;
        changed[at] = (changed[at] as number) ^ change;
        expect(verify({ headers: signed, body: changed })).toMatchObject({ accepted: false });
      }),
    );
  });

  test.each<[string, Partial<IncomingWebhook>, string]>([
    ['its own secret cannot be used', { secret: 'whsec_x' }, '`secret` has 0 bytes'],
    ['the body was read already', { body: {} as Uint8Array }, '`body` must be the bytes'],
    ['it is not told the time', { now: Number.NaN }, '`now` must be a number, not NaN'],
    ['the tolerance is none', { toleranceMs: Number.NaN }, '`toleranceMs` must be a number'],
  ])('throws when %s', (_, changes, message) => {
    expect(() => verify(changes)).toThrow(
      expect.objectContaining({
        code: 'invalid_option',
        message: expect.stringContaining(message),
      }),
    );
  });
});
