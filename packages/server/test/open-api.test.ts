import { server } from '@adjutant/server';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { runtime } from 'adjutant';
import { describe, expect, test } from 'vitest';

/** Findings of the linter that are right all the same, with the reason. */
const exceptions: readonly {
  readonly ruleId: string;
  readonly pointer: string;
  readonly reason: string;
}[] = [
  {
    ruleId: 'operation-2xx-response',
    pointer: '#/paths/~1v1~1sessions~1{session}~1socket/get/responses',
    reason: 'a WebSocket begins with 101, and has no other good answer',
  },
];

interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly parameters?: readonly object[];
  readonly 'x-permission': string;
  readonly security: readonly object[];
}

const document = server(runtime({ app: 'documented' })).openApi() as {
  readonly openapi: string;
  readonly tags: readonly { readonly name: string; readonly description?: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
};
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ method, path, operation })),
);

describe('the OpenAPI document', () => {
  test('passes the recommended rules of the linter without errors and warnings', async () => {
    const config = await createConfig({ extends: ['recommended'] });
    const problems = await lintFromString({
      source: JSON.stringify(document),
      absoluteRef: 'openapi.json',
      config,
    });
    const found = problems.map(({ ruleId, location, message }) => ({
      ruleId,
      pointer: location[0]?.pointer ?? '',
      message,
    }));
    const isExcepted = (one: { ruleId: string; pointer: string }) =>
      exceptions.some(({ ruleId, pointer }) => ruleId === one.ruleId && pointer === one.pointer);
    expect(found.filter((one) => !isExcepted(one))).toEqual([]);
    expect(
      exceptions.filter(
        ({ ruleId, pointer }) =>
          !found.some((one) => one.ruleId === ruleId && one.pointer === pointer),
      ),
    ).toEqual([]);
  });

  test('is OpenAPI 3.1, and describes every tag', () => {
    expect(document.openapi).toMatch(/^3\.1\./);
    expect(document.tags.filter(({ description }) => description === undefined)).toEqual([]);
  });

  test(
    'says of each route which permission it needs, and asks for a credential where it needs ' +
      'one',
    () => {
      const permissions = new Set(['public', 'read', 'chat', 'operate', 'audit', 'manage']);
      expect(
        operations.filter(({ operation }) => !permissions.has(operation['x-permission'])),
      ).toEqual([]);
      const isAsked = ({ operation }: (typeof operations)[number]) => operation.security.length > 0;
      expect(
        operations.filter((one) => isAsked(one) === (one.operation['x-permission'] === 'public')),
      ).toEqual([]);
    },
  );

  test(
    'offers a key that makes it safe to send again for every write that needs a ' + 'credential',
    () => {
      const offers = ({ operation }: (typeof operations)[number]) =>
        JSON.stringify(operation.parameters ?? []).includes('IdempotencyKey');
      const isWrite = ({ method, operation }: (typeof operations)[number]) =>
        method !== 'get' && operation['x-permission'] !== 'public';
      expect(
        operations
          .filter((one) => isWrite(one) !== offers(one))
          .map(({ path, method }) => `${method} ${path}`),
      ).toEqual([]);
    },
  );

  test('is served as it is', async () => {
    const api = server(runtime({ app: 'documented' }));
    const response = await api.fetch(new Request('http://localhost/v1/openapi.json'));
    expect([response.status, await response.json()]).toEqual([
      200,
      JSON.parse(JSON.stringify(document)),
    ]);
  });
});
