import fc from 'fast-check';

/** Pieces of Markdown, in which one kind of block may turn into another one. */
const pieces = fc.constantFrom(
  ...['# ', '## h', '- ', '- a', '* ', '+ b', '1. ', '2) c', '> ', '    ', '\t', '  ', ' ', '\n\n'],
  ...['```', '```js', '~~~', '---', '===', '***', '| a | b |', '|---|---|', '| 1 | 2 |', '|'],
  ...[
    '<div>',
    '</div>',
    '<!--',
    '-->',
    '<pre>',
    '<b>',
    '[x]: http://y.com',
    '[x]',
    '[l](http://a.b)',
  ],
  ...[
    '**',
    '*',
    '_',
    '`',
    '~~',
    '![i](j)',
    '\\',
    '&amp;',
    '&#27;',
    'https://a.com',
    'a@b.com',
    'www.c.de',
  ],
  ...[
    'word',
    'some words',
    'const a = "b"',
    '/*',
    '日本',
    '👩‍👧',
    '\x1b[31m',
    '\u202e',
    '\u200b',
    '\r',
    '\r\n',
  ],
  ...['[ ] ', '[x] ', 'google.com', '[google.com](mailto:x@y.z)', '[', '](', ')', ':'],
);
const line = fc.array(pieces, { maxLength: 4 }).map((parts) => parts.join(''));

/** Texts that look like Markdown, whole and broken. */
export const markdownText = fc.array(line, { maxLength: 10 }).map((lines) => lines.join('\n'));
