import type { Benchmark } from '../row.ts';
import { followers } from './server/followers.ts';
import { idleFollowers } from './server/idle-followers.ts';
import { latency } from './server/latency.ts';
import { startedRuns } from './server/started-runs.ts';

/** The app over HTTP: each server in a process of its own, readers of streams in another one. */
export const server: Benchmark = {
  name: 'server',
  notes: [
    'Servers and readers are processes of their own. The floor over HTTP is a server of ' +
      'the same framework (Hono on Node): a constant answer, and a stream that passes on ' +
      'what comes.',
    'The AI SDK streams the answer to the request that asked for it (`streamText` behind ' +
      'Hono); it has no sessions that others could follow.',
  ],
  async run(settings) {
    return [
      ...(await startedRuns(settings)),
      ...(await followers(settings)),
      ...(await latency(settings)),
      ...(await idleFollowers(settings)),
    ];
  },
};
