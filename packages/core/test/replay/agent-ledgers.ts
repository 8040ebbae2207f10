import { agent, type JsonObject, tool, toolResult } from 'adjutant';
import { includeHistory, injectSystemMessage } from 'adjutant/context';
import { roundModel, type ScriptedResponse } from 'adjutant/testing';
import { z } from 'zod';
import type { KeptLedger } from './recording.ts';

const place = z.object({ place: z.string() });

export function calls(
  ...made: readonly (readonly [name: string, args: JsonObject])[]
): ScriptedResponse {
  return { toolCalls: made.map(([name, args]) => ({ name, args })) };
}

const weather: KeptLedger = {
  name: 'weather',
  holds: 'two user turns in one session',
  define: (edit) => ({
    runnable: agent({
      name: 'forecaster',
      model: roundModel(
        [calls(['look_up', { place: 'Bern' }]), { text: 'Sunny.' }, { text: 'You are welcome.' }],
        {
          modelId: edit === 'another model' ? 'larger' : 'scripted',
        },
      ),
      context: [
        injectSystemMessage(
          edit === 'a changed system prompt' ? 'You answer at length.' : 'You answer briefly.',
        ),
        includeHistory(),
      ],
      tools: [
        tool({
          name: 'look_up',
          description: 'Looks the weather up',
          schema: place,
          recovery: 'rerun',
          execute: ({ args }) => `${args.place}: sunny`,
        }),
      ],
      ...(edit === 'a changed setting' ? { toolChoice: 'required' as const } : {}),
    }),
  }),
  record: async (recording) => {
    await recording.run('How is the weather in Bern?');
    return recording.run('Thank you', recording.session(), 'again');
  },
  edits: {
    'a changed system prompt': {
      seq: 3,
      path: 'run',
      kind: 'prompt',
      subject: 'In model call 1 of forecaster: the system prompt changed',
    },
    'another model': {
      seq: 3,
      path: 'run',
      kind: 'prompt',
      subject:
        'In model call 1 of forecaster: the model is scripted:larger and was scripted:scripted',
    },
    'a changed setting': {
      seq: 3,
      path: 'run',
      kind: 'prompt',
      subject: 'In model call 1 of forecaster: the setting toolChoice changed',
    },
  },
};

const cents = (edit: string | undefined) =>
  z.object({ cents: z.int().min(edit === 'a changed tool schema' ? 1 : 0) });

const refund: KeptLedger = {
  name: 'refund',
  holds: 'a crash in the middle of a tool that reports',
  define: (edit) => ({
    runnable: agent({
      name: 'clerk',
      model: roundModel([
        calls(['refund', { cents: 4_200 }], ['note', {}]),
        { text: 'It may have been paid.' },
      ]),
      tools: [
        tool({
          name: edit === 'a renamed tool' ? 'pay_back' : 'refund',
          description: 'Pays money back',
          schema: cents(edit),
          recovery: 'report',
          execute: () => new Promise(() => undefined),
        }),
        ...(edit === 'a removed tool'
          ? []
          : [
              tool({
                name: 'note',
                description: 'Takes a note',
                schema: z.object({}),
                recovery: 'rerun',
                execute: () => 'noted',
              }),
            ]),
      ],
    }),
  }),
  record: async (recording) => {
    await recording.crashAt(
      'I want my money back',
      (event) => event.type === 'tool_result' && event.name === 'note',
    );
    return recording.goOn();
  },
  edits: {
    'a renamed tool': {
      seq: 3,
      path: 'run',
      kind: 'prompt',
      subject: 'In model call 1 of clerk: the tool "refund" is now called "pay_back"',
    },
    'a changed tool schema': {
      seq: 3,
      path: 'run',
      kind: 'prompt',
      subject: 'In model call 1 of clerk: the input schema of the tool "refund" changed',
    },
    'a removed tool': {
      seq: 3,
      path: 'run',
      kind: 'prompt',
      subject: 'In model call 1 of clerk: the tool "note" is gone',
    },
  },
};

const reading: KeptLedger = {
  name: 'reading',
  holds: 'a value of more than 64 KB, and a limit that asks for an answer',
  define: (edit) => {
    const context = [
      injectSystemMessage('You read pages.'),
      injectSystemMessage('You know nothing else.'),
    ];
    return {
      runnable: agent({
        name: 'reader',
        model: roundModel([
          calls(['read', { place: 'page 1' }]),
          calls(['read', { place: 'page 2' }]),
          { text: 'Read.' },
        ]),
        context: [
          ...(edit === 'a reordered context' ? context.reverse() : context),
          includeHistory(),
        ],
        tools: [
          tool({
            name: 'read',
            description: 'Reads a page',
            schema: place,
            recovery: 'rerun',
            execute: ({ args }) =>
              args.place === 'page 1' ? 'a line\n'.repeat(10_000) : 'the last page',
          }),
        ],
        limits: {
          rounds: edit === 'a changed limit of rounds' ? 2 : 10,
          ...(edit === 'a new limit of tokens' ? { tokens: 100 } : {}),
        },
      }),
    };
  },
  record: (recording) => recording.run('Read it'),
  edits: {
    'a reordered context': {
      seq: 3,
      path: 'run',
      kind: 'prompt',
      subject: 'In model call 1 of reader: the messages are in another order',
    },
    'a changed limit of rounds': {
      seq: 13,
      path: 'run',
      kind: 'control_flow',
      subject:
        'The decision "exhausted" of limits is not recorded; what is recorded there is ' +
        'model call 3 of reader',
    },
    'a new limit of tokens': {
      seq: 3,
      path: 'run',
      kind: 'control_flow',
      subject:
        'The decision "exhausted" of limits is not recorded; what is recorded there is ' +
        'model call 1 of reader',
    },
  },
};

const searching: KeptLedger = {
  name: 'searching',
  holds: 'calls in a loop, tools that fail and are tried again, and guardrails',
  define: (edit) => ({
    runnable: agent({
      name: 'searcher',
      model: roundModel([
        calls(['search', { place: 'here' }]),
        calls(['search', { place: 'here' }], ['fetch', { place: 'there' }]),
        calls(['search', { place: 'here' }]),
        { text: 'Nothing.' },
      ]),
      tools: [
        tool({
          name: 'search',
          description: 'Searches',
          schema: place,
          recovery: 'rerun',
          execute: () => 'nothing new',
        }),
        tool({
          name: 'fetch',
          description: 'Fetches',
          schema: place,
          recovery: 'rerun',
          retry: { attempts: 2, initialDelayMs: 1 },
          execute: () => toolResult.transient('busy', { errorType: 'http_429' }),
        }),
      ],
      supervision: {
        loops: { warnAt: 2, blockAt: edit === 'a changed threshold of loops' ? 5 : 3 },
        errors: {
          chains: { http_429: ['backoff', 'report'] },
          initialDelayMs: 1,
          multiplier: 1,
        },
        guardrails: [
          {
            name: 'places',
            toolCall: ({ args }) => {
              const { place: where } = args as { readonly place: string };
              if (edit === 'a guardrail that denies' && where === 'there')
                return { action: 'deny', message: 'Not there.' };
              return where === 'there'
                ? { action: 'guide', message: 'There is far away.' }
                : undefined;
            },
          },
        ],
      },
    }),
  }),
  record: (recording) => recording.run('Find it'),
  edits: {
    'a changed threshold of loops': {
      seq: 25,
      path: 'run',
      kind: 'control_flow',
      subject: 'The decision "block" of loop_detector is recorded, and it does not come',
    },
    'a guardrail that denies': {
      seq: 15,
      path: 'run',
      kind: 'control_flow',
      subject: 'The decision "guide" of guardrail differs in decision',
    },
  },
};

const account = z.object({ account: z.string(), cents: z.int() });

const transfers: KeptLedger = {
  name: 'transfers',
  holds: 'arguments that are prepared, by a process that took over after a crash',
  define: (edit) => ({
    runnable: agent({
      name: 'banker',
      model: roundModel([
        calls(['transfer', { account: ' ch-1 ', cents: 500 }]),
        { text: 'Done.' },
      ]),
      tools: [
        tool({
          name: 'transfer',
          description: 'Transfers money',
          schema: account,
          recovery: 'report',
          prepare: ({ args }) => ({
            ...args,
            account:
              edit === 'another preparation of arguments'
                ? args.account.trim()
                : args.account.trim().toUpperCase(),
          }),
          execute: ({ args }) => `${args.account} has it`,
        }),
      ],
    }),
  }),
  record: async (recording) => {
    await recording.crashAt('Pay', (event) => event.type === 'model_end');
    return recording.goOn();
  },
  edits: {
    'another preparation of arguments': {
      seq: 7,
      path: 'run',
      kind: 'arguments',
      subject:
        'transfer (run/r1.0) is called with other arguments; of the recorded ones the ' +
        'ledger has the fingerprint 076dc9e4194ad875bd9a',
    },
  },
};

export const agentLedgers: readonly KeptLedger[] = [weather, refund, reading, searching, transfers];
