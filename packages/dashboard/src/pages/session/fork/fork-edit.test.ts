import { expect, test } from 'vitest';
import { editOf } from './fork-edit.ts';

const texts = { agent: '', instructions: '', message: '', state: '{}' };
const wanted = { ...texts, edit: 'prompt', hasActed: true, before: {} } as const;

test('instructions are for the agent that acted last, or for the one that is named', () => {
  expect(editOf({ ...wanted, instructions: 'Be brief.' })).toEqual({
    edit: { prompt: { instructions: 'Be brief.' } },
  });
  expect(
    editOf({ ...wanted, hasActed: false, agent: 'writer', instructions: 'Be brief.' }),
  ).toEqual({ edit: { prompt: { instructions: 'Be brief.', agent: 'writer' } } });
});

test('instructions before any agent has acted need its name; a message does not', () => {
  expect(editOf({ ...wanted, hasActed: false, instructions: 'Be brief.' })).toContain('Choose');
  expect(editOf({ ...wanted, hasActed: false, message: 'Otherwise.' })).toEqual({
    edit: { prompt: { message: 'Otherwise.' } },
  });
  // An agent alone changes nothing.
  expect(editOf({ ...wanted, agent: 'writer' })).toContain('Write instructions or a message');
});
