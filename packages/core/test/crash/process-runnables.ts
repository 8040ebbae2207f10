import { agent, parallel, type Runnable, tool } from 'adjutant';
import { roundModel, scriptedModel } from 'adjutant/testing';
import { z } from 'zod';
import type { EffectFile } from './effect-file.ts';

/** Reports and signals of the runnables of a process. */
export interface ProcessPorts {
  readonly session: string;
  readonly say: (what: string) => void;
  /** Holds a tool or a model call until it resolves. */
  readonly goOn: Promise<void>;
  readonly effects: Pick<EffectFile, 'add'>;
}

const schema = z.object({ n: z.number() });
const call = (name: string, n: number) => ({ name, args: { n } });

/** Makes the runnables that all processes of a test have under the same names. */
export function processRunnables({
  session,
  say,
  goOn,
  effects,
}: ProcessPorts): Readonly<Record<string, Runnable>> {
  const orAborted = async (signal: AbortSignal, what: string): Promise<void> => {
    const aborted = new Promise<never>((_resolve, reject) => {
      signal.addEventListener('abort', () => {
        say(`${what} aborted`);
        reject(signal.reason);
      });
    });
    await Promise.race([goOn, aborted]);
  };
  const note = ({
    callId,
    idempotencyKey: key,
    attempt,
  }: {
    callId: string;
    idempotencyKey: string;
    attempt: number;
  }): void => effects.add({ session, callId, key, attempt });
  const once = tool({
    name: 'once',
    description: 'Does something that may be done once only',
    schema,
    recovery: 'report',
    execute: (ctx) => {
      note(ctx);
      return ctx.args.n;
    },
  });
  const hold = tool({
    name: 'hold',
    description: 'Waits',
    schema,
    recovery: 'rerun',
    execute: async (ctx) => {
      say('the tool waits');
      await orAborted(ctx.signal, 'the tool');
      return ctx.args.n;
    },
  });
  const answers = roundModel([{ toolCalls: [call('once', 1)] }, { text: 'mused' }]);
  const held: typeof answers.doStream = async (options) => {
    say('the model waits');
    await orAborted(options.abortSignal as AbortSignal, 'the model');
    return answers.doStream(options);
  };
  const ask = tool({
    name: 'ask',
    description: 'Asks the user',
    schema: z.object({}),
    yieldSchema: z.object({ answer: z.string() }),
    finalize: (ctx) => {
      say('the answer is here');
      return ctx.input?.answer;
    },
  });
  const musing = agent({ name: 'musing', model: { ...answers, doStream: held }, tools: [once] });
  const holding = agent({
    name: 'holding',
    model: roundModel([
      { toolCalls: [call('once', 1)] },
      { toolCalls: [call('hold', 1)] },
      { toolCalls: [call('once', 2)] },
      { text: 'held' },
    ]),
    tools: [once, hold],
  });
  const asking = agent({
    name: 'asking',
    model: roundModel([{ toolCalls: [{ name: 'ask', args: {} }] }, { text: 'asked' }]),
    tools: [ask],
  });
  const patient = agent({
    name: 'patient',
    model: scriptedModel([{ toolCalls: [call('hold', 1)] }, { text: 'waited' }]),
    tools: [hold],
  });
  return {
    musing,
    holding,
    busy: parallel({ name: 'busy', runnables: [musing, patient] }),
    questioning: parallel({ name: 'questioning', runnables: [asking, holding] }),
  };
}
