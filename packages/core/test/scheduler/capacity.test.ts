import { capacityOf } from 'adjutant/scheduler';
import { expect, test } from 'vitest';

const cost = { workerMs: 2, databaseMs: 4, walBytes: 7_000, connectionMs: 20 };
const deployment = {
  ...{ workers: 2, coresPerWorker: 1, databaseCores: 8, isShared: false },
  ...{ connectionsPerWorker: 10, walBytesPerSecond: 50_000_000 },
};

test('the tightest part bounds the runs a second', () => {
  const few = capacityOf(cost, deployment);
  expect(few).toMatchObject({
    runsPerSecond: 1_000,
    limits: [['workers', 1_000], expect.anything(), expect.anything(), expect.anything()],
  });
  expect(few.limits.map(([name]) => name).toSorted()).toEqual([
    'connections',
    'database',
    'wal',
    'workers',
  ]);
  expect(capacityOf(cost, { ...deployment, workers: 8 })).toMatchObject({
    ...{ bottleneck: 'database', runsPerSecond: 2_000 },
  });
  expect(capacityOf(cost, { ...deployment, walBytesPerSecond: 700_000 })).toMatchObject({
    ...{ bottleneck: 'wal', runsPerSecond: 100 },
  });
  expect(capacityOf(cost, { ...deployment, connectionsPerWorker: 1 })).toMatchObject({
    ...{ bottleneck: 'connections', runsPerSecond: 100 },
  });
});

test('workers on the machine of the database take from its processors', () => {
  const shared = { ...deployment, workers: 8, databaseCores: 2, isShared: true };
  expect(capacityOf(cost, shared)).toMatchObject({ bottleneck: 'database' });
  expect(capacityOf(cost, shared).runsPerSecond).toBeCloseTo(2_000 / 6);
});

test.each([
  [{ ...cost, workerMs: 0 }, deployment, '`workerMs`'],
  [cost, { ...deployment, workers: -1 }, '`workers`'],
  [cost, { ...deployment, isShared: 1 }, '`isShared`'],
  [cost, { ...deployment, cores: 1 }, '`cores`'],
])('what does not fit is refused: %#', (costs, machines, message) => {
  expect(() => capacityOf(costs, machines as never)).toThrow(message);
});
