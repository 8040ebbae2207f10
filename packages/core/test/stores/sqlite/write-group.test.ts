import { describe, expect, test } from 'vitest';
import { fieldsPerEvent } from '../../../src/stores/sqlite/encoding.ts';
import type { AppendRequest, Request } from '../../../src/stores/sqlite/protocol.ts';
import { nextGroup, rowsOf } from '../../../src/stores/sqlite/write-group.ts';

/** Most rows of a group, written out: other processes wait for so many. */
const mostRowsPerGroup = 512;
const address = { tenant: 'acme', app: 'shop', session: 's' };

function append(events: number, rest: Partial<AppendRequest> = {}): Request {
  return [
    'append',
    {
      ...address,
      now: 1,
      expected: { seq: 0, epoch: 1 },
      fields: Array.from({ length: events * fieldsPerEvent }, () => 0),
      ...rest,
    },
  ];
}

const read: Request = ['head', address];
const purge: Request = ['purge', null];

/** The rows of each group that a list of requests is served in; a read stands for itself. */
function rowsOfGroups(requests: readonly Request[]): readonly (readonly number[] | string)[] {
  const groups: (readonly number[] | string)[] = [];
  for (let next = 0; next < requests.length; ) {
    const group = nextGroup(requests, next);
    groups.push(group.length === 0 ? 'read' : group.map(rowsOf));
    next += Math.max(1, group.length);
  }
  return groups;
}

describe('a group of writes', () => {
  test('holds no more rows than others can wait for', () => {
    const groups = rowsOfGroups(Array.from({ length: 400 }, () => append(4)));
    for (const rows of groups)
      expect((rows as number[]).reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(
        mostRowsPerGroup,
      );
    expect(groups.flat()).toHaveLength(400);
    expect(groups.length).toBe(Math.ceil(400 / Math.floor(mostRowsPerGroup / 5)));
  });

  test('that is larger than that stands alone', () => {
    expect(rowsOfGroups([append(1), append(2_000), append(1)])).toEqual([[2], [2_001], [2]]);
  });

  test('counts everything that a batch writes', () => {
    const settles = [{ requestId: 'q', status: 'cancelled', by: 'runtime' }] as const;
    expect(rowsOfGroups([append(1, { consumes: [1, 2], blobs: ['x'], settles })])).toEqual([[6]]);
  });

  test('ends before a read, which sees what was asked for before it', () => {
    expect(rowsOfGroups([append(1), read, append(1), append(1)])).toEqual([[2], 'read', [2, 2]]);
  });

  test('does not mix with steps of a deletion', () => {
    expect(rowsOfGroups([append(1), purge, purge, append(1)])).toEqual([
      [2],
      [mostRowsPerGroup],
      [mostRowsPerGroup],
      [2],
    ]);
  });
});
