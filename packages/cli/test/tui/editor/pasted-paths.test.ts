import fc from 'fast-check';
import { expect, test } from 'vitest';
import { pastedPaths } from '../../../src/tui/editor/pasted-paths.ts';

test.each([
  ['/home/ada/a.pdf', ['/home/ada/a.pdf']],
  [' ./a.pdf b.txt\n', ['./a.pdf', 'b.txt']],
  ["'/home/ada/my file.pdf' ", ['/home/ada/my file.pdf']],
  ['"/home/ada/my \\"file.pdf"', ['/home/ada/my "file.pdf']],
  ['/home/ada/my\\ file.pdf', ['/home/ada/my file.pdf']],
  ['C:\\Users\\Ada\\a.pdf', ['C:\\Users\\Ada\\a.pdf']],
  ['file:///home/ada/my%20file.pdf', ['/home/ada/my file.pdf']],
])('%j is of paths', (text, paths) => {
  expect(pastedPaths(text)).toEqual(paths);
});

test.each(['', 'hello', 'see ./a.pdf', "it's ./a.pdf", "'./a.pdf", 'file://%', './a '.repeat(21)])(
  '%j is another text',
  (text) => {
    expect(pastedPaths(text)).toBeUndefined();
  },
);

test('quoted paths come back, whatever is in them', () => {
  const path = fc.string().map((name) => `/${name.replace(/['\n]/g, '_')}`);
  fc.assert(
    fc.property(fc.array(path, { minLength: 1, maxLength: 5 }), (paths) => {
      expect(pastedPaths(paths.map((each) => `'${each}'`).join(' '))).toEqual(paths);
    }),
    { numRuns: 200 },
  );
});
