import { type JobTarget, parseJobCommand, resolveTarget, type TaskInfo } from 'adjutant/scheduler';
import { describe, expect, test } from 'vitest';
import { taskInfo } from './task-info.fixture.ts';

const video = taskInfo({
  name: 'Summarizing that YouTube video',
  state: 'running',
  submittedAt: 1,
});
const golf = taskInfo({
  name: 'Golf courses near Bangalore',
  description: 'Look for courses that are open in December',
  submittedAt: 2,
});
const batteries = taskInfo({ name: 'Research: batteries', state: 'suspended', submittedAt: 3 });
const diary = taskInfo({ name: 'Diary', priority: 'background', submittedAt: 4 });
const letter = taskInfo({ name: 'Letter to Anna and Bob', submittedAt: 0 });
const flights = taskInfo({ name: 'Flight search', state: 'completed', submittedAt: 5 });
const tasks = [video, golf, batteries, diary, letter, flights];

const named = (words: string): JobTarget => ({ kind: 'named', words });

describe('a message, when the tasks are known,', () => {
  test.each([
    ['Do the golf courses near Bangalore first', 'reprioritize', golf],
    ['cancel the diary', 'cancel', diary],
    ['Pause the video summary', 'suspend', video],
    ['continue the research', 'resume', batteries],
    ['Carry on with the battery research', 'resume', batteries],
    ['the research first', 'reprioritize', batteries],
    ['The diary can wait', 'reprioritize', diary],
    ['Is the flight search done?', 'progress', flights],
    ['resume that', 'resume', batteries],
    ['pause that', 'suspend', video],
    ['Do this first', 'reprioritize', diary],
    ["What's the diary's status?", 'progress', diary],
    ['Cancel the dairy', 'cancel', diary],
    ['Do the letter to Anna and Bob first', 'reprioritize', letter],
    ['What about the golf courses near Bangalore?', 'progress', golf],
    ['cancel 2', 'cancel', golf],
  ])('%s', (text, kind, task) => {
    const command = parseJobCommand(text, { tasks });
    expect(command).toMatchObject({ kind });
    const target = command !== undefined && 'target' in command ? command.target : named('');
    expect(resolveTarget(target, tasks, { for: kind as 'cancel' })).toEqual({ kind: 'one', task });
  });

  test.each([
    ['names none of them', 'Cancel the translation'],
    ['names a task that has ended', 'Cancel the flight search'],
    ['names a part of a name with a word that is no kind of work', 'cancel the flight'],
    ['continues what is not suspended', 'Continue the diary'],
    ['counts further than the list', 'cancel 7'],
    ['is none without them either', 'cancel my flight to Paris'],
    ['speaks of a thing of the user that is called as a task is', 'Cancel my diary'],
  ])('is no command when it %s', (_, text) => {
    expect(parseJobCommand(text, { tasks })).toBeUndefined();
  });

  test.each([
    'Cancel that',
    'This is urgent',
    'cancel all tasks',
    'Pause',
    'do the last one first',
  ])('is no command when there is no task: %s', (text) => {
    expect(parseJobCommand(text)).toBeDefined();
    expect(parseJobCommand(text, { tasks: [] })).toBeUndefined();
  });

  test('is still a question about all of them when there is none', () => {
    expect(parseJobCommand('How busy are you?', { tasks: [] })).toEqual({ kind: 'status' });
    expect(parseJobCommand('What are you working on?', { tasks: [] })).toEqual({ kind: 'list' });
  });
});

describe('a target', () => {
  const one = (task: TaskInfo) => ({ kind: 'one', task });
  const a = taskInfo({ name: 'Market research', state: 'running', submittedAt: 1 });
  const b = taskInfo({ name: 'Battery research', submittedAt: 2 });
  const c = taskInfo({ name: 'Research', submittedAt: 2 });

  test.each<[string, JobTarget, TaskInfo]>([
    ['a whole name before a part of another', named('research'), c],
    ['a name with its words in another order', named('research on batteries'), b],
    ['a name with a wrong letter', named('markte research'), a],
    ['a name in the plural', named('markets research'), a],
    ['a number', { kind: 'number', number: 2 }, b],
    ['the running task as the current one', { kind: 'current' }, a],
    ['the later one in the list of two at the same instant', { kind: 'last' }, c],
  ])('finds %s', (_, target, task) => {
    expect(resolveTarget(target, [a, b, c])).toEqual(one(task));
  });

  test('is found in the description when no name has the words', () => {
    expect(resolveTarget(named('december'), tasks)).toEqual(one(golf));
  });

  test('is the task submitted last as the current one when none runs', () => {
    expect(resolveTarget({ kind: 'current' }, [b, golf, diary])).toEqual(one(diary));
  });

  test('is ambiguous when several fit alike', () => {
    expect(resolveTarget(named('research'), [a, b, diary])).toEqual({
      kind: 'ambiguous',
      candidates: [a, b],
    });
    const other = taskInfo({ name: 'Report', state: 'running' });
    expect(resolveTarget({ kind: 'current' }, [a, other, b])).toEqual({
      kind: 'ambiguous',
      candidates: [a, other],
    });
  });

  test('is one task when only one of those of a name can be resumed', () => {
    const options = { for: 'resume' } as const;
    expect(resolveTarget(named('research'), [a, b, batteries], options)).toEqual(one(batteries));
  });

  test('that is all tasks is those that have not ended', () => {
    expect(resolveTarget({ kind: 'all' }, tasks)).toEqual({
      kind: 'several',
      tasks: [video, golf, batteries, diary, letter],
    });
    expect(resolveTarget({ kind: 'all' }, [flights])).toEqual({ kind: 'none' });
  });

  test.each<[JobTarget]>([
    [named('translation')],
    [named('')],
    [named('the of')],
    [{ kind: 'number', number: 9 }],
    [{ kind: 'number', number: 0 }],
    [{ kind: 'number', number: -1 }],
    [{ kind: 'number', number: 1.5 }],
  ])('is none: %j', (target) => {
    expect(resolveTarget(target, [a, b, c])).toEqual({ kind: 'none' });
  });
});
