/**
 * A process whose run asks for leave: `node telling-worker.ts <TellingOrder as JSON>`. It says what
 * it tells, and may be killed while it does.
 */
import { agent, runtime } from 'adjutant';
import { roundModel } from 'adjutant/testing';
import { payTool } from '../pay-tool.ts';
import { connect, type StoreAddress } from './worker-store.ts';

export interface TellingOrder {
  readonly store: StoreAddress;
  /** When it kills itself: before it tells, or after that and before the note of it. */
  readonly dies: 'before' | 'after';
}

const order = JSON.parse(process.argv[2] ?? '') as TellingOrder;
const { pay } = payTool();
const model = roundModel([{ toolCalls: [{ name: 'pay', args: { cents: 5 } }] }, { text: 'Done' }]);
const payer = agent({ name: 'payer', model, tools: [pay] });
const app = runtime({
  app: 'telling',
  store: connect(order.store),
  runnables: [payer],
  recover: 'manual',
  onRequest: ({ request }) => {
    if (order.dies === 'after') process.stdout.write(`${request.requestId}\n`);
    process.kill(process.pid, 'SIGKILL');
    return new Promise<void>(() => undefined);
  },
});
await app.run(payer, { session: 's', input: 'Pay' });
