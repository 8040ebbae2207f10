import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { createOpenAI } from '@ai-sdk/openai';
import type { LanguageModelV4 } from '@ai-sdk/provider';
import { agent, claude, type ModelInput, openai, rehearsal, run, textProtocol } from 'adjutant';
import {
  allowRealModels,
  areRealModelsForbidden,
  forbidRealModels,
  scriptedModel,
} from 'adjutant/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

const restores: (() => void)[] = [];

// The tests of this project run where real models are forbidden.
beforeEach(() => {
  restores.push(allowRealModels());
});

afterEach(() => {
  for (const restore of restores.splice(0).reverse()) restore();
});

function forbid(options?: Parameters<typeof forbidRealModels>[0]): void {
  restores.push(forbidRealModels(options));
}

/** A provider whose requests are seen and not sent. */
function watched(): { readonly model: LanguageModelV4; readonly requests: string[] } {
  const requests: string[] = [];
  const fetch = async (url: unknown): Promise<Response> => {
    requests.push(String(url));
    return new Response('{"error":{"message":"no"}}', {
      status: 400,
      headers: { 'content-type': 'application/json' },
    });
  };
  return { model: createOpenAI({ apiKey: 'none', fetch }).languageModel('gpt-5'), requests };
}

const ask = async (model: ModelInput, more: object = {}) =>
  run(agent({ name: 'asker', model, ...more }), 'Hello');
const forbidden = { status: 'error', error: { code: 'real_model_forbidden' } };

describe('where real models are forbidden', () => {
  test(
    'a model of any provider is not called: its agent ends with an error that says which it ' +
      'was and how to allow it',
    async () => {
      forbid();
      const { model, requests } = watched();
      const result = await ask(model);
      expect(result).toMatchObject(forbidden);
      expect(result.error?.message).toMatch(
        /^The model openai\.responses:gpt-5 was about to be called.*forbidRealModels\(\)\).*allow: \['openai\.responses:gpt-5'\]/s,
      );
      expect(requests).toEqual([]);
      expect(result.usage).toMatchObject({ inputTokens: 0, outputTokens: 0 });
    },
  );

  test('a model of this package is not even loaded: nobody asks for its key', async () => {
    forbid();
    expect(await ask(openai('gpt-5', { env: {} }))).toMatchObject(forbidden);
    expect(await ask(textProtocol(claude('claude-opus-4-1', { env: {} })))).toMatchObject(
      forbidden,
    );
  });

  test('neither fallbacks nor hooks nor error handlers hide it', async () => {
    forbid();
    const { model, requests } = watched();
    const hooks = { onModelError: () => 'all is well' };
    const errorHandlers = [
      { name: 'hiding', handle: () => ({ action: 'fallback' as const, result: 'fine' }) },
    ];
    const result = await ask(model, {
      model: [model, scriptedModel([{ text: 'instead' }])],
      hooks,
      errorHandlers,
    });
    expect(result).toMatchObject(forbidden);
    expect(requests).toEqual([]);
  });

  test(
    'scripted models and the rehearsal model answer, also behind what lies ' + 'around them',
    async () => {
      forbid();
      const wrapModel = (inner: LanguageModelV4): LanguageModelV4 => ({
        specificationVersion: 'v4',
        provider: 'around',
        modelId: 'around',
        supportedUrls: {},
        doGenerate: (options) => inner.doGenerate(options),
        doStream: (options) => inner.doStream(options),
      });
      const middleware = [{ name: 'around', wrapModel }];
      expect(await ask(scriptedModel([{ text: 'a' }]), { middleware })).toMatchObject({
        output: 'a',
      });
      expect(await ask(textProtocol(scriptedModel([{ text: 'Final Answer: b' }])))).toMatchObject({
        status: 'completed',
      });
      expect(await ask(rehearsal())).toMatchObject({ status: 'completed' });
    },
  );

  test('a call that a hook answers is none', async () => {
    forbid();
    const hooks = {
      beforeModel: () => ({ stepEvents: [{ type: 'assistant' as const, text: 'from the hook' }] }),
    };
    expect(await ask(watched().model, { hooks })).toMatchObject({ output: 'from the hook' });
  });

  test('some can be allowed: by name, by the beginning of a name, or themselves', async () => {
    const { model, requests } = watched();
    const own: LanguageModelV4 = {
      ...scriptedModel(() => ({ text: 'own' })),
      provider: 'own',
      modelId: 'fake',
    };
    delete (own as { [mark: symbol]: unknown })[Symbol.for('adjutant.test_model')];
    forbid({ allow: ['openai.responses:gpt-5', own] });
    expect(await ask(model)).toMatchObject({ error: { code: 'model_invalid_request' } });
    expect(requests).toHaveLength(1);
    expect(await ask(own)).toMatchObject({ output: 'own' });
    forbid({ allow: ['own:*'] });
    expect(await ask(own)).toMatchObject({ output: 'own' });
    expect(await ask(model)).toMatchObject(forbidden);
    forbid({ allow: ['own:fak'] });
    expect(await ask(own)).toMatchObject(forbidden);
  });

  test('what held before can be put back, and everything can be allowed', async () => {
    expect(areRealModelsForbidden()).toBe(false);
    const restore = forbidRealModels();
    restores.push(allowRealModels());
    expect(areRealModelsForbidden()).toBe(false);
    expect(await ask(watched().model)).toMatchObject({ error: { code: 'model_invalid_request' } });
    restores.pop()?.();
    expect(areRealModelsForbidden()).toBe(true);
    restore();
    expect(areRealModelsForbidden()).toBe(false);
  });

  test('another copy of the package knows it', async () => {
    forbid();
    const copy = (await import(
      `${'../../src/models/real-models.ts'}?copy`
    )) as typeof import('../../src/models/real-models.ts');
    const own = await import('../../src/models/real-models.ts');
    expect(copy.realModels).not.toBe(own.realModels);
    expect(copy.realModels()).toMatchObject({ forbidden: true, by: 'forbidRealModels()' });
    const { toModel } = await import('../../src/models/model.ts');
    expect(copy.forbiddenModel(toModel(scriptedModel([])))).toBeUndefined();
    expect(copy.forbiddenModel(toModel(watched().model))).toMatchObject({
      code: 'real_model_forbidden',
    });
  });

  test.each([{ allow: 'openai:*' }, { allow: [5] }, { allow: [{}] }, { alow: [] }])(
    '%j is refused',
    (options) => {
      expect(() => forbidRealModels(options as never)).toThrow(
        expect.objectContaining({ code: 'invalid_option' }),
      );
    },
  );
});

describe('ADJUTANT_REAL_MODELS', () => {
  const program = `
    import { agent, openai, rehearsal, run } from 'adjutant';
    const ask = async (model) => (await run(agent({ name: 'a', model }), 'Hello'));
    console.log(JSON.stringify([await ask(openai('gpt-5', { env: {} })), await ask(rehearsal())].map(({ status, error }) => error?.code ?? status)));
  `;
  const started = async (value: string) => {
    const args = ['--input-type=module', '-e', program];
    const { stdout } = await promisify(execFile)(process.execPath, args, {
      cwd: import.meta.dirname,
      env: { ...process.env, ADJUTANT_REAL_MODELS: value },
    });
    return JSON.parse(stdout) as unknown;
  };

  test.each([
    ['forbid', ['real_model_forbidden', 'completed']],
    ['allow', ['model_missing_key', 'completed']],
    ['', ['model_missing_key', 'completed']],
    ['forbiden', ['invalid_real_models', 'invalid_real_models']],
  ])('%j', async (value, expected) => {
    expect(await started(value)).toEqual(expected);
  });
});
