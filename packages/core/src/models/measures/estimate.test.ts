import { readFileSync } from 'node:fs';
import { countTokens as countCl100k } from 'gpt-tokenizer/encoding/cl100k_base';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, test } from 'vitest';
import { openai } from '../providers/openai.ts';
import { textProtocol } from '../text-protocol/text-protocol.ts';
import { estimateTokens, tokensOf } from './estimate.ts';

const here = (file: string) => readFileSync(new URL(file, import.meta.url), 'utf8');
const order = (i: number) => ({
  id: `ord_${(i * 7_919 + 1e6).toString(36)}`,
  amount: i * 13.37,
  at: `2026-11-22T04:5${i % 10}:31.123Z`,
  ok: i % 3 === 0,
});
const list = (length: number, line: (i: number) => string) =>
  Array.from({ length }, (_, i) => line(i));
const manifest = here('../../../package.json');

const corpus: { readonly [what: string]: string } = {
  prose:
    'When the clerk came back from lunch, the office was empty. Somebody had left the ' +
    'window open, and the wind had spread a week of invoices over the floor. She picked ' +
    'them up one by one, without hurry, and sorted them by date; there were forty-three, ' +
    'and two were missing. ',
  markdown: here('../../../../../docs/guide/models.md').slice(0, 5_000),
  TypeScript: here('../classify.ts').slice(0, 6_000),
  Python:
    'def fibonacci(n: int) -> list[int]:\n    """Return the first n numbers."""\n    a, b ' +
    '= 0, 1\n    result = []\n    for _ in range(n):\n        result.append(a)\n        a, ' +
    'b = b, a + b\n    return result\n',
  'indented JSON': manifest,
  'dense JSON': JSON.stringify(JSON.parse(manifest)),
  records: JSON.stringify(
    list(30, (i) => JSON.stringify(order(i))).map((text) => JSON.parse(text)),
  ),
  numbers: list(200, (i) => ((i * 987_654.321) % 100_000).toFixed(3)).join(', '),
  hex: list(20, (i) => (0x9e3779b97f4a7c15f39cc0605cedc834n * BigInt(i + 3)).toString(16)).join(
    '\n',
  ),
  log: list(
    30,
    (i) =>
      `2026-11-22T04:50:${String(i % 60).padStart(2, '0')}.123Z INFO [worker-${i % 4}] ` +
      `request took ${i * 3} ms status=200 path=/api/v1/orders/${i}`,
  ).join('\n'),
  HTML: list(
    40,
    (i) =>
      `<li class="item item-${i}"><a href="https://example.com/page/${i}?ref=home">Item ` +
      `${i}</a></li>`,
  ).join(''),
  capitals: 'THE QUICK BROWN FOX JUMPS OVER THE LAZY DOG AND RUNS AWAY FROM HERE. '.repeat(5),
  blanks: '    '.repeat(200) + '\n\n\n\n'.repeat(50),
  German:
    'Die Laufzeit führt jede Handlung eines Agenten als Eintrag in einem Hauptbuch, und ' +
    'alles Übrige ist eine Art, es zu lesen. Wer damit arbeitet, kann nachvollziehen, ' +
    'warum etwas geschehen ist, denn die Reihenfolge der Ereignisse ist überprüfbar.',
  French:
    "L'exécution conserve chaque action d'un agent dans un registre, et tout le reste " +
    "n'est qu'une manière de le relire. Ceux qui l'utilisent disent qu'il est facile de " +
    "comprendre pourquoi quelque chose s'est produit.",
  Russian:
    'Среда выполнения записывает каждое действие агента в журнал, а всё остальное является ' +
    'способом его чтения. Те, кто с ней работает, могут понять, почему что-то произошло.',
  Arabic:
    'يحتفظ النظام بكل فعل يقوم به الوكيل كمدخل في سجل، وكل شيء آخر هو طريقة لقراءة ذلك ' +
    'السجل. يمكن لمن يعمل به أن يفهم لماذا حدث شيء ما.',
  Hindi:
    'रनटाइम एजेंट के हर काम को एक बहीखाते में दर्ज करता है, और बाकी सब कुछ उसे पढ़ने का एक ' +
    'तरीका है। जो लोग इसके साथ काम करते हैं वे समझ सकते हैं।',
  Chinese:
    '运行时把代理的每一个动作都记录在账本里，其他一切都只是阅读它的一种方式。使用它的人说，很容易理解某件事为什么会发生，因为事件的顺序总是可以查到的。',
  Japanese:
    'ランタイムはエージェントのすべての行動を台帳に記録し、それ以外のすべてはそれを読む方法にすぎません。使う人は、なぜ何かが起きたのかを簡単に理解できると言います。',
  Korean:
    '런타임은 에이전트의 모든 행동을 원장에 기록하며, 나머지는 모두 그것을 읽는 방법일 뿐입니다. 사용하는 사람들은 왜 어떤 일이 일어났는지 쉽게 이해할 수 ' +
    '있다고 말합니다.',
  emoji: '🎉🚀 Done! 👩‍👩‍👧‍👦 family 🏳️‍🌈 flag ✅ ok ❌ no 🤖🤖🤖 🇩🇪🇫🇷 👍🏽',
};

describe('the estimate', () => {
  test.each(Object.entries(corpus))('%s', (_what, text) => {
    const ratio = estimateTokens(text) / countTokens(text);
    expect(ratio).toBeGreaterThan(0.9);
    expect(ratio).toBeLessThan(1.26);
  });

  test('of everything together is at most a quarter too high, and not too low', () => {
    const all = Object.values(corpus).join('\n\n');
    const ratio = estimateTokens(all) / countTokens(all);
    expect(ratio).toBeGreaterThan(1);
    expect(ratio).toBeLessThan(1.25);
  });

  test('holds for English and code with the older vocabulary, too', () => {
    for (const text of [
      corpus['prose'],
      corpus['TypeScript'],
      corpus['dense JSON'],
      corpus['log'],
    ]) {
      expect(estimateTokens(text ?? '') / countCl100k(text ?? '')).toBeGreaterThan(0.95);
    }
  });

  test('of a length is four characters to a token', () => {
    expect([0, 1, 4, 5, 4_000].map((length) => estimateTokens(length))).toEqual([
      0, 1, 1, 2, 1_000,
    ]);
    expect(estimateTokens('')).toBe(0);
    expect(estimateTokens('a')).toBe(1);
  });
});

test('a model with a tokenizer is counted exactly', () => {
  const model = openai('gpt-5', { apiKey: 'k', countTokens });
  const text = corpus['Chinese'] ?? '';
  expect(tokensOf(model, text)).toBe(countTokens(text));
  expect(tokensOf(textProtocol(model), text)).toBe(countTokens(text));
  expect(tokensOf(openai('gpt-5', { apiKey: 'k' }), text)).toBe(estimateTokens(text));
  expect(() => openai('gpt-5', { countTokens: 'o200k' as never })).toThrow('countTokens');
});
