import { expect, test } from 'vitest';
import { StoredMessages } from '../../../src/tui/session/stored-messages.ts';

test('a message is called stored when the store has it, until the ledger tells of it', async () => {
  const messages = new StoredMessages();
  const { promise, resolve } = Promise.withResolvers<void>();
  const added = messages.add('and refunds', promise);
  expect(messages.texts).toEqual([]);
  resolve();
  await added;
  expect(messages.texts).toEqual(['and refunds']);
  messages.read('and refunds');
  expect(messages.texts).toEqual([]);
});

test('one that the ledger tells of first is not called stored afterwards', async () => {
  const messages = new StoredMessages();
  const { promise, resolve } = Promise.withResolvers<void>();
  const added = messages.add('and refunds', promise);
  messages.read('and refunds');
  resolve();
  await added;
  expect(messages.texts).toEqual([]);
});

test('one that could not be sent is not called stored', async () => {
  const messages = new StoredMessages();
  await expect(messages.add('lost', Promise.reject(new Error('away')))).rejects.toThrow('away');
  expect(messages.texts).toEqual([]);
});
