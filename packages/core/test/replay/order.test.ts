import { memoryStore, runtime, sequence, step } from 'adjutant';
import { recordedLedgerOf, replay } from 'adjutant/replay';
import { expect, test } from 'vitest';

const line = (...names: readonly string[]) =>
  sequence({
    name: 'line',
    runnables: names.map((name) => step({ name, execute: () => undefined })),
  });

test(
  'parts of a sequence that change their places are found, also when they ' + 'do nothing',
  async () => {
    const app = (...names: readonly string[]) =>
      runtime({
        app: 'order',
        recover: 'manual',
        store: memoryStore(),
        runnables: [line(...names)],
      });
    const { session } = await app('one', 'two', 'three').run(line('one', 'two', 'three'), {
      session: 's',
      input: 'Go',
      runId: 'run',
    });
    const record = recordedLedgerOf(session);
    expect((await replay(record, app('one', 'two', 'three'))).divergence).toBeUndefined();
    expect((await replay(record, app('one', 'three', 'two'))).divergence).toMatchObject({
      seq: record.events.find((event) => event.type === 'invocation_start' && event.name === 'two')
        ?.seq,
      path: 'run/two',
      kind: 'control_flow',
      subject:
        'The start of the step "two" is recorded, and the start of the step "three" came instead',
    });
  },
);
