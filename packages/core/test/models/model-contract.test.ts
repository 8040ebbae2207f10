import { claude, gemini, type Model, openai, openaiCompatible } from 'adjutant';
import {
  type ModelLeftOut,
  type ModelScript,
  type ModelUnderTest,
  modelContract,
} from 'adjutant/testing';
import { chatWire, claudeWire, geminiWire, openaiWire } from './scripted-wire.ts';
import { type Responder, startWireServer, type WireServer } from './wire-server.ts';

/** A provider's own package, whose requests all come to a server of this test. */
function overTheWire(
  makeModel: (server: WireServer) => Model,
  responder: (script: ModelScript) => Responder,
): () => Promise<ModelUnderTest> {
  return async () => {
    const server = await startWireServer();
    // Rules that hold of any answer do not say what is answered.
    let isTold = false;
    const rain = (): void =>
      server.answer(responder({ text: ['Rain.'] }), responder({ text: ['Rain.'] }));
    rain();
    return {
      model: makeModel(server),
      respond: (...scripts) => {
        if (!isTold) server.forget();
        isTold = true;
        server.answer(...scripts.map(responder));
      },
      cleanup: () => server.close(),
    };
  };
}

const objects = 'the provider sends arguments as objects';
const providers: readonly (readonly [
  string,
  (server: WireServer) => Model,
  (script: ModelScript) => Responder,
  ModelLeftOut?,
])[] = [
  [
    'openai',
    ({ redirected }) => openai('gpt-5-mini', { fetch: redirected, env: { OPENAI_API_KEY: 'k' } }),
    openaiWire,
  ],
  [
    'openaiCompatible',
    ({ url }) => openaiCompatible({ model: 'm', baseURL: `${url}/v1`, apiKey: 'k' }),
    chatWire,
  ],
  [
    'claude',
    ({ redirected }) =>
      claude('claude-sonnet-4-5', { fetch: redirected, env: { ANTHROPIC_API_KEY: 'k' } }),
    claudeWire,
  ],
  [
    'gemini',
    ({ redirected }) =>
      gemini('gemini-3-flash-preview', { fetch: redirected, env: { GEMINI_API_KEY: 'k' } }),
    geminiWire,
    { 'broken arguments': objects },
  ],
];

for (const [name, makeModel, responder, skip] of providers)
  await modelContract(name, overTheWire(makeModel, responder), { ...(skip && { skip }) });
