/**
 * A process that runs one runnable: `node process-worker.ts <ProcessOrder as JSON>`. It says what
 * happens in lines on its standard output, and lets what waits go on when a line comes in.
 */
import { runtime } from 'adjutant';
import { EffectFile } from './effect-file.ts';
import { processRunnables } from './process-runnables.ts';
import { connect, type StoreAddress } from './worker-store.ts';

export interface ProcessOrder {
  readonly store: StoreAddress;
  readonly runnable: string;
  readonly session: string;
  readonly effects: string;
  /** Milliseconds. */
  readonly lease: number;
  /**
   * Run that the process asks for before it kills itself, once that is accepted. @default to be
   * told to go, and it lives on
   */
  readonly asks?: { readonly runId?: string; readonly input: string };
}

const order = JSON.parse(process.argv[2] ?? '') as ProcessOrder;
const say = (what: string): void => void process.stdout.write(`${what}\n`);
const { promise: goOn, resolve } = Promise.withResolvers<void>();
process.stdin.once('data', () => resolve());
const effects = new EffectFile(order.effects);
const runnables = processRunnables({ session: order.session, say, goOn, effects });
const runnable = runnables[order.runnable];
if (runnable === undefined) throw new Error(`There is no runnable "${order.runnable}".`);
const app = runtime({
  app: 'processes',
  store: connect(order.store),
  recover: 'manual',
  lease: { ttlMs: order.lease },
});
try {
  const run = app.run(runnable, {
    session: order.session,
    ...(order.asks ?? { runId: 'run', input: 'Go' }),
  });
  // Without a turn of the event loop in between, so that nothing is written that was not.
  if (order.asks !== undefined)
    void run.accepted().then(() => process.kill(process.pid, 'SIGKILL'));
  const { status } = await run;
  say(`ended as ${status}`);
} catch (error) {
  say(`failed with ${(error as { code?: string }).code}`);
}
await app.close();
effects.close();
process.stdin.destroy();
