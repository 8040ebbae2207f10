import { agent, readToolResult, runtime, textProtocol } from 'adjutant';
import { enrichment, message, template } from 'adjutant/context';
import { formatRules, redactPersonalData } from 'adjutant/guardrails';
import { cliMiddleware, globalInstructions } from 'adjutant/middleware';
import { scriptedModel } from 'adjutant/testing';
import { expect, test } from 'vitest';

/** As a program without types, or with types that were cast away, would call it. */
const untyped = (value: unknown) => value as never;
const define = (options: unknown) => () =>
  agent({ name: 'clerk', model: scriptedModel([]), ...(options as object) });
const supervised = (supervision: unknown) => define({ supervision });

test.each<[string, () => unknown, RegExp]>([
  [
    'a value inside a group',
    supervised({ loops: { window: 500 } }),
    /`supervision` must be .* whose `window` is a whole number from 1 to 100, not 500\.$/,
  ],
  [
    'an option inside a group',
    supervised({ loops: { warnat: 2 } }),
    /without `warnat` \(did you mean `warnAt`\?\)\.$/,
  ],
  [
    'a warning after the block',
    supervised({ loops: { warnAt: 6, blockAt: 5 } }),
    /`warnAt` is at most its `blockAt` \(5\), not 6/,
  ],
  [
    'a warning after the block of polling',
    supervised({ loops: { pollWarnAt: 6, pollBlockAt: 5 } }),
    /`pollWarnAt` is at most its `pollBlockAt` \(5\), not 6/,
  ],
  [
    'a window that is too small to block',
    supervised({ loops: { window: 3, blockAt: 5 } }),
    /`window` holds the calls before `blockAt` \(at least 4\), not 3/,
  ],
  [
    'a strategy that does not exist',
    supervised({ errors: { chains: { http_403: ['fallback'] } } }),
    /whose `http_403` is a list of 'retry', .*'report', \{ hint: 'text' \}.*, not "fallback"/,
  ],
  [
    'a chain for everything under another name',
    supervised({ errors: { chains: { '*': ['report'] } } }),
    /no chain `\*`: the chain for all failures without one is called `default`/,
  ],
  [
    'a chain of a misspelt error type',
    supervised({ errors: { chains: { file_not_fond: ['report'] } } }),
    /no chain `file_not_fond` \(did you mean `file_not_found`\?\)/,
  ],
  [
    'a chain of an error type in another spelling',
    supervised({ errors: { chains: { toolError: ['report'] } } }),
    /no chain `toolError` \(did you mean `tool_error`\?\)/,
  ],
  [
    'a chain of a bare HTTP status',
    supervised({ errors: { chains: { 404: ['report'] } } }),
    /no chain `404`: HTTP failures are called `http_` and their status, as `http_404`/,
  ],
  [
    'a chain of a whole class of HTTP statuses',
    supervised({ errors: { chains: { http_4xx: ['report'] } } }),
    /no chain `http_4xx`: HTTP failures are called/,
  ],
  [
    'a chain of a sentence',
    supervised({ errors: { chains: { 'when it fails': ['report'] } } }),
    /no chain `when it fails`: a key is an error type such as `http_404`/,
  ],
  [
    'a strategy of two',
    supervised({ errors: { chains: { http_403: [{ hint: 'x', escalate: 'human' }] } } }),
    /not an object with hint and escalate/,
  ],
  [
    'an empty hint',
    supervised({ errors: { chains: { http_403: [{ hint: '' }] } } }),
    /whose `http_403` is a list/,
  ],
  [
    'an empty chain',
    supervised({ errors: { chains: { http_403: [] } } }),
    /`http_403` is a list of strategies, at least \['report'\], not an empty list/,
  ],
  [
    'numbers of circuits for one agent',
    supervised({ circuitBreaker: { failures: 2 } }),
    /`circuitBreaker` is false \(only runtime\(\{ supervision \}\)/,
  ],
  [
    'a guardrail that was not called',
    supervised({ guardrails: [formatRules] }),
    /each an object \(ready guardrails are called: .*not a function/,
  ],
  [
    'a guardrail that looks at nothing',
    supervised({ guardrails: [{ name: 'x' }] }),
    /at least one of input.*"x" has none/,
  ],
  [
    'a point that does not exist',
    supervised({ guardrails: [{ name: 'x', toolcall: () => undefined }] }),
    /without `toolcall` \(did you mean `toolCall`\?\): "x"/,
  ],
  [
    'no kinds of personal data',
    () => redactPersonalData({ kinds: [] }),
    /`kinds` must be a list of at least one of email/,
  ],
  [
    'no places of personal data',
    () => redactPersonalData({ at: [] }),
    /`at` must be a list of at least one of input/,
  ],
  [
    'a member of an error handler',
    define({ errorHandlers: [{ name: 'x', handle: () => undefined, canhandle: () => true }] }),
    /without `canhandle` \(did you mean `canHandle`\?\)/,
  ],
  [
    'canHandle that is no function',
    define({ errorHandlers: [{ name: 'x', handle: () => undefined, canHandle: true }] }),
    /whose `canHandle` is a function/,
  ],
  [
    'middleware of an agent whose `around` is no function',
    define({ middleware: [{ name: 'x', around: 1 }] }),
    /whose `around` is a function/,
  ],
  [
    'global instructions without a text',
    () => globalInstructions(untyped(undefined)),
    /globalInstructions\(\) .*needs a text .*not undefined/,
  ],
  [
    'the name of no model',
    define({ model: 'openai/gpt-5' }),
    /"openai\/gpt-5" does not name a model: it names no provider. Did you mean "openai:gpt-5"\?/,
  ],
  [
    'a list of no models',
    define({ model: [] }),
    /`model` must be .*, or a list of models, not an empty list/,
  ],
  [
    'a list with something else than models',
    define({ model: [scriptedModel([]), 3] }),
    /`model` must be .*, or a list of models, not a list/,
  ],
  ['no model', () => agent(untyped({ name: 'clerk' })), /`model` must be a model such as/],
  [
    'a model for summaries that is none',
    define({ compaction: { model: {} } }),
    /`compaction` must be an object whose `model` is a model such as/,
  ],
  [
    'summaries behind the cut',
    define({ compaction: { compactAt: 0.9, trimAt: 0.5 } }),
    /`compactAt` is at most its `trimAt` \(0\.5\), not 0\.9/,
  ],
  [
    'a text protocol without a model',
    () => textProtocol(untyped('gemma')),
    /textProtocol\(\) cannot be used: "gemma" does not name a model: it names no provider/,
  ],
  [
    'an example without steps',
    () => textProtocol(scriptedModel([]), { examples: [untyped({ question: 'x' })] }),
    /`examples` must be a list of \{ question, steps/,
  ],
  [
    'a template without a text',
    () => template(untyped(undefined)),
    /template\(\) .*must be a string, not undefined/,
  ],
  [
    'a message without a schema',
    () =>
      message(
        untyped(() => 'x'),
        untyped(undefined),
      ),
    /message\(\) .*schema of the state must be an object, not a function/,
  ],
  [
    'an enrichment without a function',
    () => enrichment({}, untyped('x')),
    /enrichment\(\) .*after the schema comes a function, not "x"/,
  ],
  [
    'an option of readToolResult',
    () => readToolResult(untyped({ max: 1 })),
    /readToolResult\(\) .*no option `max`/,
  ],
  [
    'an output of a type that does not exist',
    define({ output: { type: 'objekt' } }),
    /its output is not JSON Schema: there is no `type` "objekt"/,
  ],
  [
    'an output under a reserved key',
    define({ output: 'temp' }),
    /`output` must be a key of the session state that is not reserved/,
  ],
  [
    'fields in the place of a schema',
    define({ output: { name: 'string' } }),
    /its output is not JSON Schema: fields belong into/,
  ],
])('%s is refused, and the message says what to do', (_title, make, expected) => {
  expect(make).toThrow(expected);
});

test('what fits is taken', () => {
  const all = {
    loops: { warnAt: 2, blockAt: 2, window: 1 },
    errors: {
      chains: {
        http_403: ['backoff', { hint: 'x' }, { fallbackTool: 'y' }, { escalate: 'human' }],
        default: ['report'],
        error_transient: ['backoff'],
        // Tools may give their failures types of their own.
        out_of_stock: ['hint'],
      },
    },
  };
  expect(supervised({ ...all, circuitBreaker: false })).not.toThrow();
  expect(() =>
    runtime({
      app: 'shop',
      middleware: [cliMiddleware()],
      supervision: { circuitBreaker: { failures: 2 } },
    }),
  ).not.toThrow();
  expect(
    define({
      model: [scriptedModel([]), scriptedModel([])],
      compaction: { compactAt: 0.5, trimAt: 0.5 },
    }),
  ).not.toThrow();
});
