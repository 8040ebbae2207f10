import { InvalidServerError, server } from '@adjutant/server';
import { runtime } from 'adjutant';
import { describe, expect, test } from 'vitest';

function refusalOf(options: unknown, app: unknown = runtime({ app: 'shop' })): string {
  try {
    server(app as never, options as never);
  } catch (error) {
    expect(error).toBeInstanceOf(InvalidServerError);
    return (error as Error).message;
  }
  throw new Error('The options were accepted.');
}

describe('a server is not made', () => {
  test.each<[unknown, string]>([
    [null, 'the options must be an object'],
    [{ limit: {} }, 'there is no option `limit` (did you mean `limits`?)'],
    [
      { limits: { bodyByte: 1 } },
      'there is no option `limits.bodyByte` (did you mean `bodyBytes`?)',
    ],
    [{ limits: { bodyBytes: 0 } }, '`limits.bodyBytes` must be a whole number from 1'],
    [
      { limits: { requestsPerMinute: true } },
      '`limits.requestsPerMinute` must be a whole number from 1, or false',
    ],
    [{ auth: { keys: false } }, '`auth` must be an object that lets somebody in'],
    [{ auth: { jwt: {} } }, '`auth.jwt` must be an object with either `jwks`'],
    [
      { auth: { jwt: { jwks: 'http://keys.example.com' } } },
      '`auth.jwt.jwks` must be an https:// address',
    ],
    [{ auth: { jwt: { secret: 'confidential' } } }, 'of at least 32 bytes'],
    [{ cors: { origins: [] } }, '`cors.origins` must be a list of at least one origin'],
    [{ cors: { origins: ['https://a.example/'] } }, '`cors.origins.0` must be an origin'],
    [
      { stream: { heartbeatMs: 0 } },
      '`stream.heartbeatMs` must be a number of milliseconds greater than 0',
    ],
    [
      { idempotency: { keepForMs: -1 } },
      '`idempotency.keepForMs` must be a number of milliseconds greater than 0',
    ],
    [{ evals: { folder: '' } }, '`evals.folder` must be a string that is not empty'],
    [{ evals: { folder: 'x', maxBytes: 0 } }, '`evals.maxBytes` must be a whole number from 1'],
    [{ evals: { path: 'x' } }, '`evals.folder` must be'],
    [{ publicUrl: 'agents.example.com' }, '`publicUrl` must be an http:// or https:// address'],
    [{ onError: 'log' }, '`onError` must be a function'],
    [{ ports: { clock: Date } }, '`ports.clock` must be a Clock'],
  ])('with %j', (options, message) => {
    expect(refusalOf(options)).toContain(message);
    expect(refusalOf(options)).not.toContain('confidential');
  });

  test('for what is no app', () => {
    expect(refusalOf({}, { app: 'shop' })).toContain('the first argument must be an app');
  });
});

test('a server is made with all options', async () => {
  const made = server(runtime({ app: 'shop' }), {
    auth: {
      keys: true,
      jwt: { jwks: 'https://login.example.com/keys', issuer: 'login', audience: 'shop' },
    },
    limits: { bodyBytes: 1_000, requestsPerMinute: false, streams: 2 },
    cors: { origins: ['https://app.example.com', '*'] },
    stream: { heartbeatMs: 1_000 },
    evals: { folder: 'evals', maxBytes: 1_000 },
    idempotency: { keepForMs: 1_000 },
    publicUrl: 'https://agents.example.com',
    onError: () => undefined,
  });
  await made.close();
});
