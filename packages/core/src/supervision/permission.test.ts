import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isListOfGrants, isListOfPermissions, missingPermissions } from './permission.ts';

const word = fc.stringMatching(/^[\w-]{1,6}$/);
const name = fc.array(word, { minLength: 1, maxLength: 4 }).map((words) => words.join(':'));

describe('missingPermissions', () => {
  test.each([
    [['fs:write'], [], ['fs:write']],
    [['fs:write'], ['fs:write'], []],
    [['fs:write'], ['fs:read'], ['fs:write']],
    [['fs:write'], ['fs:*'], []],
    [['fs:write:tmp'], ['fs:*'], []],
    [['fs'], ['fs:*'], ['fs']],
    [['fsx:write'], ['fs:*'], ['fsx:write']],
    [['fs.write'], ['fs:*'], ['fs.write']],
    [['fs:write', 'net', 'fs:read'], ['fs:write'], ['net', 'fs:read']],
    [['anything', 'at:all'], ['*'], []],
    [['fs:write'], ['FS:write'], ['fs:write']],
    [[], [], []],
  ])('of %j with %j granted are %j', (required, granted, missing) => {
    expect(missingPermissions(required, granted)).toEqual(missing);
  });

  test('never covers what is no name, and takes no grant that is none', () => {
    expect(missingPermissions(['', 'fs:*', 'a b', 'fs::write'], ['*'])).toEqual([
      '',
      'fs:*',
      'a b',
      'fs::write',
    ]);
    expect(missingPermissions(['fs:write'], ['fs*', 'f*', ':*', '**', 'fs:*:write'])).toEqual([
      'fs:write',
    ]);
  });

  test(
    'every name is covered by itself, by each of its beginnings with a wildcard, and by ' +
      'nothing shorter',
    () => {
      fc.assert(
        fc.property(name, (needed) => {
          const words = needed.split(':');
          expect(missingPermissions([needed], [needed])).toEqual([]);
          expect(missingPermissions([needed], ['*'])).toEqual([]);
          for (let count = 1; count < words.length; count++) {
            const beginning = words.slice(0, count).join(':');
            expect(missingPermissions([needed], [`${beginning}:*`])).toEqual([]);
            expect(missingPermissions([needed], [beginning])).toEqual([needed]);
          }
          expect(missingPermissions([needed], [`${needed}:*`])).toEqual([needed]);
        }),
      );
    },
  );

  test(
    'granting more never makes more missing, and what is missing is part of what is needed, ' +
      'in its order',
    () => {
      const grant = fc.oneof(
        name,
        name.map((given) => `${given}:*`),
      );
      fc.assert(
        fc.property(fc.array(name), fc.array(grant), grant, (required, granted, more) => {
          const missing = missingPermissions(required, granted);
          expect(required.filter((needed) => missing.includes(needed))).toEqual(missing);
          for (const still of missingPermissions(required, [...granted, more]))
            expect(missing).toContain(still);
        }),
      );
    },
  );
});

describe('names', () => {
  test.each(['fs', 'fs:write', 'crm.read', 'a-b_c:d.e'])(
    '%s can be needed and granted',
    (given) => {
      expect(isListOfPermissions([given])).toBeUndefined();
      expect(isListOfGrants([given])).toBeUndefined();
    },
  );

  test.each(['*', 'fs:*', 'crm.read:*'])('%s can only be granted', (given) => {
    expect(isListOfPermissions([given])).toContain('a list of permissions');
    expect(isListOfGrants([given])).toBeUndefined();
  });

  test.each([
    '',
    ' ',
    'fs:',
    ':fs',
    'fs::write',
    'fs write',
    'fs*',
    '*:fs',
    `${'a'.repeat(65)}`,
    'fs:write\n',
    7,
    null,
  ])('%j is no name', (given) => {
    expect(isListOfPermissions([given])).toContain('a list of permissions');
    expect(isListOfGrants([given])).toContain('a list of permissions');
  });

  test('options say what a list must be', () => {
    expect(isListOfPermissions(['fs:write'])).toBeUndefined();
    expect(isListOfPermissions(['fs:*'])).toContain('a list of permissions');
    expect(isListOfGrants(['fs:*', '*'])).toBeUndefined();
    expect(isListOfGrants('fs:*')).toContain('a list of permissions');
  });
});
