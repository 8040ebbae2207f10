import { describe, expect, it } from 'vitest';
import { depthOverTime, historyMs, preempted, sparkline } from './queue.ts';

const now = 10 * historyMs;

describe('the depth of the queue', () => {
  it('counts tasks between their submission and their first turn', () => {
    const tasks = [
      { submittedAt: now - historyMs, startedAt: now - historyMs / 2 },
      { submittedAt: now - historyMs / 4 },
      { submittedAt: now - historyMs, completedAt: now - historyMs / 2 },
    ];
    expect(depthOverTime(tasks, now, 5)).toEqual([2, 2, 0, 1, 1]);
  });

  it('is nothing without tasks', () => {
    expect(depthOverTime([], now, 3)).toEqual([0, 0, 0]);
  });
});

describe('preempted tasks', () => {
  it('are those that ran and are queued again', () => {
    const before = [
      ...([
        { id: 'a', state: 'running' },
        { id: 'b', state: 'running' },
      ] as const),
      ...([{ id: 'c', state: 'queued' }] as const),
    ];
    const after = [
      ...([
        { id: 'a', state: 'queued' },
        { id: 'b', state: 'completed' },
      ] as const),
      ...([
        { id: 'c', state: 'queued' },
        { id: 'd', state: 'queued' },
      ] as const),
    ];
    expect(preempted(before, after)).toEqual(['a']);
    expect(preempted([], after)).toEqual([]);
  });
});

describe('the line of the depth', () => {
  it('goes from the left to the right, highest where most waits', () => {
    expect(sparkline([0, 2, 1], 60, 10)).toBe('M0.0 10.0L30.0 0.0L60.0 5.0');
    expect(sparkline([0, 0], 60, 10)).toBe('M0.0 10.0L60.0 10.0');
    expect(sparkline([], 60, 10)).toBe('');
  });
});
