// A process that does what it is told, line by line: asks for an approval, lists and gives it, goes
// on with the run.
import { createInterface } from 'node:readline';
import { agent, isAdjutantError, runtime, type Store, tool } from 'adjutant';
import { postgres } from 'adjutant/postgres';
import { sqlite } from 'adjutant/sqlite';
import { scriptedModel } from 'adjutant/testing';
import { z } from 'zod';

export interface Command {
  readonly do: 'ask' | 'pending' | 'approve' | 'resume' | 'due' | 'hold' | 'now';
  readonly session: string;
  /** Milliseconds after which the question is over. */
  readonly expiresInMs?: number;
}

const address = JSON.parse(process.argv[2] ?? '{}') as {
  readonly file?: string;
  readonly url?: string;
  readonly schema?: string;
};
const store: Store =
  address.file === undefined
    ? postgres(address.url ?? '', { schema: address.schema ?? '' })
    : sqlite(address.file);
const ledgers = store.for({ tenant: 'default', app: 'clocks' });
let say: (what: unknown) => void = () => undefined;

function payer(name: string, approval: true | { readonly expiresInMs: number }) {
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    schema: z.object({}),
    approval,
    execute: () => 'paid',
  });
  const model = scriptedModel((prompt) =>
    prompt.some(({ role }) => role === 'tool')
      ? { text: JSON.stringify(prompt.at(-1)) }
      : { toolCalls: [{ name: 'pay', args: {} }] },
  );
  return agent({ name, tools: [pay], model });
}

const patient = payer('patient', true);
const hasty = payer('hasty', { expiresInMs: 40 });
const hang = tool({
  name: 'hang',
  description: 'Never ends',
  schema: z.object({}),
  execute: () => {
    say({ did: 'hangs' });
    return new Promise<string>((resolve) => void setTimeout(() => resolve('never'), 1e8));
  },
});
const hanging = agent({
  name: 'hanging',
  tools: [hang],
  model: scriptedModel([{ toolCalls: [{ name: 'hang', args: {} }] }]),
});
const app = runtime({
  app: 'clocks',
  store,
  runnables: [patient, hasty, hanging],
  recover: 'manual',
});

async function perform(command: Command): Promise<unknown> {
  const { session } = command;
  const pending = async () =>
    (await app.requests.list({ session, status: 'pending' })).map(({ requestId }) => requestId);
  switch (command.do) {
    case 'ask': {
      const result = await app.run(command.expiresInMs === undefined ? patient : hasty, {
        session,
        input: 'Pay',
      });
      return { status: result.status, expiresAt: result.pendingApprovals[0]?.expiresAt };
    }
    case 'pending':
      return (await pending()).length;
    case 'approve': {
      const [found] = await app.requests.list({ session });
      await app.requests.approve(found?.requestId ?? '');
      return 'approved';
    }
    case 'resume': {
      const result = await app.resume(session);
      return { status: result.status, isPaid: JSON.stringify(result.output).includes('paid') };
    }
    case 'hold':
      await app.run(hanging, { session, input: 'Hang' });
      return 'ended';
    case 'due':
      return (await ledgers.due()).map((place) => place.session);
    case 'now':
      return { store: await ledgers.now(), wall: Date.now() };
  }
}

say = (what) => void process.stdout.write(`${JSON.stringify(what)}\n`);
for await (const line of createInterface({ input: process.stdin })) {
  const done = perform(JSON.parse(line) as Command).catch((error: unknown) => ({
    error: isAdjutantError(error) ? error.code : String(error),
    message: String(error),
  }));
  void done.then((did) => say({ did }));
}
await app.close();
await store.close();
