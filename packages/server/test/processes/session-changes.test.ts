import { expect, test } from 'vitest';
import { isSkipped, Place, patience } from './place.ts';

test.skipIf(isSkipped)(
  'a page on one process hears which sessions change by another one',
  patience,
  async (context) => {
    const place = new Place(context);
    const { 0: a, 1: b } = await place.start(2);
    const changes = b.client.sessions.changes();
    expect((await changes.next()).value).toEqual({ type: 'begun' });
    const { session, id } = await a.client.runs
      .start({ agent: 'teller', input: 'Tell' })
      .accepted();
    a.server.tell({ type: 'write', pieces: 'all' });
    await a.client.runs.wait(session, id, { until: 'end' });
    for await (const change of changes) {
      expect(change).toMatchObject({ type: 'changed', session, agent: 'teller' });
      if (change.type === 'changed' && change.status === 'completed') {
        expect(change.seq).toBe((await a.client.sessions.get(session)).seq);
        break;
      }
    }
  },
);
