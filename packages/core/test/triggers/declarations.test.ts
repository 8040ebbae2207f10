import { secret } from 'adjutant';
import { event, signWebhook, verifyWebhook, type WebhookOptions, webhook } from 'adjutant/triggers';
import { describe, expect, test } from 'vitest';

describe('event', () => {
  test('is a pattern of types, and a filter that is held', () => {
    const fromAda = () => true;
    expect(event('mail.received')).toEqual({ kind: 'event', pattern: 'mail.received' });
    expect(event('mail.received', fromAda)).toEqual({
      kind: 'event',
      pattern: 'mail.received',
      where: fromAda,
    });
    for (const pattern of ['mail', 'mail.*', '*.received', 'mail.**', '**', 'a-b.c_d.9'])
      expect(event(pattern).pattern).toBe(pattern);
  });

  test.each<[unknown, unknown, string]>([
    ['', undefined, 'the pattern "" is none: write a type such as \'mail.received\''],
    ['mail received', undefined, 'is none'],
    ['mail..received', undefined, 'is none'],
    ['mail.re*', undefined, 'is none'],
    ['**.received', undefined, 'is none'],
    ['a'.repeat(300), undefined, 'the pattern a string of 300 characters is none'],
    [/mail/, undefined, 'the pattern must be a string, not a regular expression'],
    ['mail', { from: 'ada' }, 'the filter must be a function, not an object'],
  ])('%s with the filter %s is refused', (pattern, where, message) => {
    const declare = () => event(pattern as string, where as () => boolean);
    expect(declare).toThrow(expect.objectContaining({ code: 'invalid_trigger' }));
    expect(declare).toThrow(message);
  });
});

describe('webhook', () => {
  const [old, current] = [1, 2].map((byte) => `whsec_${Buffer.alloc(24, byte).toString('base64')}`);
  const both = [old as string, current as string];

  test('shows no secret as JSON, and gives it to verifyWebhook', () => {
    const hook = webhook({ secret: both });
    expect(JSON.parse(JSON.stringify(hook))).toEqual({
      kind: 'webhook',
      secret: [{ $secret: 'webhook' }, { $secret: 'webhook' }],
      toleranceMs: 300_000,
      maxBytes: 1_048_576,
    });
    const sent = { secret: both[1] as string, id: 'msg_1', timestamp: 1e12, body: '{}' };
    const incoming = { headers: signWebhook(sent), body: Buffer.from('{}'), now: 1e12 };
    expect(verifyWebhook({ ...hook, ...incoming })).toMatchObject({ accepted: true });
  });

  test('keeps secrets that have a name', () => {
    const named = secret('shop', both[0] as string);
    expect(webhook({ secret: named }).secret).toEqual([named]);
  });

  test.each<[string, unknown, string]>([
    ['no secret', {}, '`secret` is not a string'],
    ['an empty list', { secret: [] }, 'is an empty list'],
    ['a password', { secret: 'correct horse' }, '`secret` is not base64'],
    ['a short second secret', { secret: [both[0], 'whsec_AAAA'] }, '`secret` has 3 bytes'],
    ['no tolerance', { secret: both, toleranceMs: 0 }, '`toleranceMs` must be a number greater'],
    ['half a byte', { secret: both, maxBytes: 0.5 }, '`maxBytes` must be a whole number from 1'],
    ['an unknown option', { secret: both, secrets: both }, 'there is no option `secrets`'],
    ['no options', undefined, 'the options must be an object'],
  ])('with %s is refused', (_, options, message) => {
    const declare = () => webhook(options as WebhookOptions);
    expect(declare).toThrow(expect.objectContaining({ code: 'invalid_trigger' }));
    expect(declare).toThrow(message);
    expect(declare).toThrow(/^(?!.*correct horse)/s);
  });
});
