import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sqlite } from 'adjutant/sqlite';
import type { ModelMessage } from 'ai';
import { ToolLoopAgent } from 'ai';
import { agentOfRounds } from '../contenders/adjutant.ts';
import { instantModel } from '../instant-model.ts';
import { elapsed, interleave } from '../measure.ts';
import { type Benchmark, ours, type Settings } from '../row.ts';

const rounds = 1_000;
const session = 'long-session';

/** A session of 1,000 rounds is read from its store, gets one more message, and answers it. */
export const loadSession: Benchmark = {
  name: 'load-session',
  notes: [
    'The AI SDK has no store: it reads its messages from one JSON file, written by the ' +
      'benchmark, and writes nothing.',
  ],
  async run(settings) {
    const store = sqlite(join(settings.folder, 'load.db'));
    await agentOfRounds(rounds, 1, { store }).run(session);
    const answerFromJson = await jsonSession(settings);
    const figures = await interleave(
      [
        // A runtime of its own each time: what it reads, it does not have in memory.
        { name: ours, measure: () => elapsed(() => agentOfRounds(0, 0, { store }).run(session)) },
        { name: 'AI SDK', measure: () => elapsed(answerFromJson) },
      ],
      settings.quick ? 8 : 30,
    );
    await store.close();
    return [
      {
        work: 'load 1,000 rounds and take one step, warm',
        unit: 'ms',
        figures,
        ceiling: { limit: 6 },
      },
    ];
  },
};

async function jsonSession({ folder }: Settings): Promise<() => Promise<void>> {
  const path = join(folder, 'messages.json');
  await writeFile(path, JSON.stringify(messagesOf(rounds)));
  return async () => {
    const messages = JSON.parse(await readFile(path, 'utf8')) as ModelMessage[];
    const agent = new ToolLoopAgent({ model: instantModel(() => ({ deltas: ['done'] })) });
    await agent.generate({ messages: [...messages, { role: 'user', content: 'go' }] });
  };
}

function messagesOf(count: number): ModelMessage[] {
  const messages: ModelMessage[] = [{ role: 'user', content: 'go' }];
  for (let i = 0; i < count; i++) {
    const call = { toolCallId: `call_${i}`, toolName: 'add' };
    messages.push({
      role: 'assistant',
      content: [{ type: 'tool-call', ...call, input: { a: 1, b: 2 } }],
    });
    messages.push({
      role: 'tool',
      content: [{ type: 'tool-result', ...call, output: { type: 'json', value: 3 } }],
    });
  }
  return messages;
}
