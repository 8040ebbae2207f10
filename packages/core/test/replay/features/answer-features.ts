import { agent, type Event, pending, type Runnable, step, tool } from 'adjutant';
import { eventually, roundModel } from 'adjutant/testing';
import { z } from 'zod';
import { brokenOff } from '../../engine/run/control/broken-off-model.ts';
import {
  callOf,
  decided,
  type Feature,
  hours,
  none,
  ofType,
  pay,
  paying,
  requestOf,
  run,
} from './stage.ts';

/** Resolves when the first answer of a speaker has said all that it will say. */
const saidBy = new WeakMap<Runnable, Promise<void>>();

function speaker(): Runnable {
  const { model, said } = brokenOff('Half', roundModel([{ text: 'All' }, { text: 'All of it' }]));
  const made = agent({ name: 'speaker', model });
  saidBy.set(made, said);
  return made;
}

/** Answers, results and messages that come from outside a run. */
export const answerFeatures: Readonly<Record<string, Feature>> = {
  'an approval that expired': {
    define: () => paying({ expiresInMs: hours }),
    act: async (stage) => {
      const session = await run(stage);
      stage.clock.advance(2 * hours);
      return (await stage.app.resume(session)).session;
    },
    has: (event) => event.type === 'tool_input' && event.decision === 'expire',
  },
  'an approval that was handed up': {
    define: () =>
      paying({
        mayDecide: ['ann'],
        onExpire: 'escalate',
        escalateTo: ['boss'],
        expiresInMs: hours,
      }),
    act: async (stage) => {
      const session = await run(stage);
      stage.clock.advance(hours);
      await stage.app.resume(session);
      await stage.app.requests.approve(requestOf(session), { by: 'boss' });
      return (await stage.app.resume(session)).session;
    },
    has: decided('escalate'),
  },
  'an approval that holds for later calls, and is taken back': {
    define: () =>
      agent({
        name: 'payer',
        model: roundModel([callOf('pay'), callOf('pay'), { text: 'Paid.' }, { text: 'Again.' }]),
        tools: [pay({})],
      }),
    act: async (stage) => {
      const { requests } = stage.app;
      const id = requestOf(await run(stage));
      await requests.approve(id, { by: 'operator:jo', always: 'tool' });
      await stage.app.resume('s');
      await requests.withdraw(id, { by: 'operator:jo' });
      return run(stage, 'Once more', 'second');
    },
    has: decided('covered'),
  },
  'a question of a step that is put again, and one that lost a race with a sleep': {
    define: () =>
      step({
        name: 'publish',
        execute: async (ctx) => {
          const schema = z.object({ title: z.string().refine((text) => text !== 'Draft') });
          const { title } = await ctx.ask('title', { message: 'Which title?', schema });
          const said = await Promise.race([
            ctx.ask('opinion', 'What do you think?'),
            ctx.sleep('an hour', hours).then(() => 'nothing'),
          ]);
          return ctx.complete({ title, said });
        },
      }),
    act: async (stage) => {
      const session = await run(stage);
      const { requests } = stage.app;
      await requests.answer(requestOf(session), { input: { title: 'Draft' } });
      await stage.app.resume(session);
      await requests.answer(requestOf(session), { input: { title: 'Our year' } });
      await stage.app.resume(session);
      stage.clock.advance(hours);
      return (await stage.app.resume(session)).session;
    },
    has: decided('ask_again'),
  },
  'an operation that goes on elsewhere': {
    define: () =>
      agent({
        name: 'filmer',
        model: roundModel([callOf('render'), { text: 'Rendered.' }]),
        tools: [
          tool({
            name: 'render',
            description: 'Renders',
            schema: none,
            execute: () => pending({ operationId: 'film' }),
          }),
        ],
      }),
    act: async (stage) => {
      const session = await run(stage);
      await stage.app.requests.answer(requestOf(session), { input: 'ready' });
      return (await stage.app.resume(session)).session;
    },
    has: (event) => event.type === 'tool_yield' && event.kind === 'result',
  },
  'a result that came too late': {
    define: (tools) =>
      agent({
        name: 'waiter',
        model: roundModel([callOf('hang'), callOf('rest'), { text: 'told' }]),
        tools: [tools.hang, tools.rest],
      }),
    act: async (stage) => {
      const running = run(stage);
      await stage.begun;
      const session = await stage.app.sessions.open({ id: 's' });
      const has = (is: (event: Event) => boolean): boolean => session.events.some(is);
      const isLate = (event: Event): boolean => event.type === 'tool_result' && event.late === true;
      await eventually(
        () => has((event) => event.type === 'tool_attempt' && event.callId === 'run/r2.0'),
        {
          what: 'the second call',
          clock: stage.clock,
          stepMs: 500,
        },
      );
      stage.letGo();
      await eventually(() => has(isLate), { what: 'the late result' });
      stage.letRest();
      return running;
    },
    has: (event) => event.type === 'tool_result' && event.late === true,
  },
  'a message that cuts a model call off': {
    define: () => {
      let asked = 0;
      const model = roundModel([{ text: 'heard' }]);
      const first = Promise.withResolvers<never>();
      const doStream: typeof model.doStream = (options) => {
        asked++;
        options.abortSignal?.addEventListener('abort', () =>
          first.reject(options.abortSignal?.reason),
        );
        return asked === 1 ? first.promise : model.doStream(options);
      };
      return agent({
        name: 'hearer',
        model: { ...model, doStream, doGenerate: model.doGenerate.bind(model) },
      });
    },
    act: async (stage) => {
      const running = run(stage);
      const session = await stage.app.sessions.open({ id: 's' });
      await eventually(() => session.events.some(ofType('model_start')), { what: 'the call' });
      await stage.app.send('s', 'Stop', { interrupt: true });
      await running;
      return session;
    },
    has: (event) => event.type === 'model_end' && event.status === 'cancelled',
  },
  'an interrupted answer, and a pause after it': {
    define: speaker,
    act: async (stage) => {
      const running = run(stage);
      await saidBy.get(stage.root);
      await stage.app.interrupt('s', { by: 'operator:jo' });
      await running;
      return (await stage.app.resume('s')).session;
    },
    has: (event) => event.type === 'assistant' && event.cut === true,
  },
  'an interrupted answer that goes on with a message': {
    define: speaker,
    act: async (stage) => {
      const running = run(stage);
      await saidBy.get(stage.root);
      await stage.app.send('s', 'Shorter');
      await stage.app.interrupt('s', { by: 'operator:jo', next: 'continue' });
      return running;
    },
    has: decided('interrupt'),
  },
  'a pause': {
    define: (tools) =>
      agent({
        name: 'worker',
        model: roundModel([callOf('hang'), { text: 'done' }]),
        tools: [tools.hang],
      }),
    act: async (stage) => {
      const running = run(stage);
      await stage.begun;
      await stage.app.pause('s', { reason: 'lunch', by: 'operator:jo' });
      const session = await stage.app.sessions.open({ id: 's' });
      await eventually(() => session.events.some(decided('pause')), { what: 'the pause' });
      stage.letGo();
      await running;
      return (await stage.app.resume('s')).session;
    },
    has: decided('pause'),
  },
};
