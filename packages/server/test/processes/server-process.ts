/**
 * A process that serves the story: `server-process.ts <ServerOrder as JSON>`, told by messages what
 * to go on with.
 */
import { flushCompileCache } from 'node:module';
import { serve } from '@adjutant/server';
import { runtime } from 'adjutant';
import { postgres } from 'adjutant/postgres';
import { redis } from 'adjutant/redis';
import { EffectFile } from '../../../core/test/crash/effect-file.ts';
import type { ServerCommand, ServerOrder, ServerReport } from './messages.ts';
import { PieceClock } from './piece-clock.ts';
import { story } from './story.ts';

const order = JSON.parse(process.argv[2] ?? '') as ServerOrder;
const clock = new PieceClock();
const { promise: finish, resolve } = Promise.withResolvers<void>();
const app = runtime({
  app: 'story',
  store: postgres(order.postgres.url, { schema: order.postgres.schema }),
  runnables: story({ clock, finish, effects: new EffectFile(order.effects) }),
  ...(order.redis === undefined
    ? {}
    : { pubsub: redis(order.redis.url, { prefix: order.redis.prefix }) }),
  ...(order.lease === undefined ? {} : { lease: { ttlMs: order.lease } }),
});

process.on('message', (command: ServerCommand) => {
  if (command.type === 'finish') resolve();
  else clock.allow(command.pieces === 'all' ? Number.POSITIVE_INFINITY : command.pieces);
});
// The parent process is gone.
process.on('disconnect', () => process.exit());

const { url } = await serve(app, { port: 0, shutdown: { signals: true } });
// It may be killed at any time.
flushCompileCache();
process.send?.({ type: 'listening', url } satisfies ServerReport);
