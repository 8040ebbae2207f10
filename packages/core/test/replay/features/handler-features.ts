import { agent, ToolFailure, tool } from 'adjutant';
import { responseCache } from 'adjutant/middleware';
import { roundModel } from 'adjutant/testing';
import { callOf, decided, type Feature, inTime, none, run } from './stage.ts';

/** Caches, circuits, turns and handlers that decide in the place of a call. */
export const handlerFeatures: Readonly<Record<string, Feature>> = {
  'answers from a cache': {
    define: () =>
      agent({
        name: 'talker',
        model: roundModel([{ text: 'one' }]),
        middleware: [responseCache()],
      }),
    act: async (stage) => {
      await stage.app.run(stage.root, { session: 'other', input: 'Go' });
      return run(stage);
    },
    has: (event) => event.type === 'model_end' && event.substitutedBy !== undefined,
  },
  'a circuit that other sessions have opened': {
    define: () =>
      agent({
        name: 'fetcher',
        model: roundModel([callOf('fetch'), { text: 'no' }]),
        tools: [
          tool({
            name: 'fetch',
            description: 'Fetches',
            schema: none,
            recovery: 'rerun',
            execute: () => {
              throw new ToolFailure('down', { errorType: 'http_500' });
            },
          }),
        ],
        supervision: { errors: { attempts: 1 } },
      }),
    options: { supervision: { circuitBreaker: { failures: 1 } } },
    act: async (stage) => {
      await inTime(stage.app.run(stage.root, { session: 'other', input: 'Go' }), stage.clock);
      return inTime(run(stage), stage.clock);
    },
    has: (event) =>
      event.type === 'decision' &&
      event.component === 'circuit_breaker' &&
      event.decision === 'refuse',
  },
  'calls that wait for their turn, and are judged by what came before': {
    define: () =>
      agent({
        name: 'worker',
        toolConcurrency: 2,
        model: roundModel([
          { toolCalls: Array.from({ length: 7 }, () => ({ name: 'work', args: {} })) },
          { text: 'done' },
        ]),
        tools: [
          tool({
            name: 'work',
            description: 'Works',
            schema: none,
            execute: async () => 'nothing new',
          }),
        ],
      }),
    act: (stage) => run(stage),
    has: decided('block'),
  },
  'a handler of errors that ends the run': {
    define: () =>
      agent({
        name: 'worker',
        model: roundModel([callOf('fail'), { text: 'never' }]),
        tools: [
          tool({
            name: 'fail',
            description: 'Fails',
            schema: none,
            recovery: 'rerun',
            execute: () => {
              throw new ToolFailure('broken', { errorType: 'broken' });
            },
          }),
        ],
        errorHandlers: [{ name: 'strict', handle: () => ({ action: 'abort' }) }],
      }),
    act: (stage) => run(stage),
    has: decided('abort'),
  },
};
