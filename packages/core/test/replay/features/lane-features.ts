import { agent } from 'adjutant';
import { roundModel } from 'adjutant/testing';
import { callOf, type Feature, paying, requestOf, run } from './stage.ts';

const chatter = agent({ name: 'chatter', model: roundModel([{ text: 'hello' }]) });
const payer = paying({});

/** Runs in several lanes of a session. */
export const laneFeatures: Readonly<Record<string, Feature>> = {
  'a run in another lane that waits while the chat goes on': {
    define: () => paying({}),
    options: { runnables: [chatter] },
    act: async ({ app, root }) => {
      const waiting = await app.run(root, { session: 's', input: 'Go', runId: 'b', lane: 'b' });
      await app.run(chatter, { session: 's', input: 'Hi', runId: 'first' });
      await app.send('s', 'For the other lane', { lane: 'b' });
      await app.run(chatter, { session: 's', input: 'Hi again', runId: 'second' });
      await app.requests.approve(requestOf(waiting.session));
      return (await app.resume('s', { lane: 'b' })).session;
    },
    has: (event) => event.type === 'invocation_start' && event.lane === 'b',
  },
  'runs in two lanes at the same time, of which one waits in between': {
    define: (tools) =>
      agent({
        name: 'worker',
        model: roundModel([callOf('hang'), { text: 'done' }]),
        tools: [tools.hang],
      }),
    options: { runnables: [payer, chatter] },
    act: async (stage) => {
      const { app } = stage;
      const running = run(stage);
      await stage.begun;
      const waiting = await app.run(payer, { session: 's', input: 'Go', runId: 'b', lane: 'b' });
      await app.run(chatter, { session: 's', input: 'Hi', runId: 'c', lane: 'c' });
      await app.requests.approve(requestOf(waiting.session));
      await app.resume('s', { lane: 'b' });
      stage.letGo();
      return running;
    },
    has: (event) => event.type === 'tool_input' && event.invocationId === 'b',
  },
};
