import type { MathNode } from 'mathjs';
import { nearestName } from '../../../base/nearest-name.ts';
import { ToolFailure } from '../../errors.ts';

type MathLibrary = typeof import('mathjs/number');

/** Functions that may be called. None can loop for long, or returns anything but a number. */
const allowedFunctions = [
  ...[
    'abs',
    'sign',
    'round',
    'floor',
    'ceil',
    'fix',
    'sqrt',
    'cbrt',
    'nthRoot',
    'square',
    'cube',
    'pow',
    'exp',
    'log',
    'log2',
    'log10',
    'log1p',
  ],
  ...['mod', 'gcd', 'lcm', 'hypot', 'min', 'max', 'sum', 'mean', 'median', 'variance', 'std'],
  ...['sin', 'cos', 'tan', 'asin', 'acos', 'atan', 'atan2', 'sinh', 'cosh', 'tanh'],
] as const;

type AllowedFunction = (typeof allowedFunctions)[number];
const callable: ReadonlySet<string> = new Set(allowedFunctions);
const otherNames: ReadonlyMap<string, AllowedFunction> = new Map([
  ['ln', 'log'],
  ['avg', 'mean'],
  ['average', 'mean'],
  ['trunc', 'fix'],
]);
const constants: ReadonlyMap<string, number> = new Map([
  ['pi', Math.PI],
  ['π', Math.PI],
  ['e', Math.E],
  ['tau', 2 * Math.PI],
  ['phi', (1 + Math.sqrt(5)) / 2],
]);

/**
 * Replaces a percent sign for the parser: its only other postfix operator, which numbers have no
 * use for.
 */
const percentMark = "'";
const longestFactorial = 170;

type BinaryOperator = (left: number, right: number) => number;
const binaryOperators: ReadonlyMap<string, BinaryOperator> = new Map<string, BinaryOperator>([
  ['add', (left, right) => left + right],
  ['subtract', (left, right) => left - right],
  ['multiply', (left, right) => left * right],
  ['divide', (left, right) => left / right],
  ['pow', (left, right) => left ** right],
  ['mod', (left, right) => left - right * Math.floor(left / right)],
]);

/**
 * Evaluates an arithmetic expression. The library parses it. Only numbers, the operators of
 * arithmetic, and the functions and constants listed here are then evaluated: the rest of the
 * library's language is refused.
 * @throws ToolFailure when the expression cannot be understood, uses something that is not allowed,
 * or has no finite result
 */
export function evaluateArithmetic(library: MathLibrary, expression: string): number {
  const result = evaluateNode(library, parse(library, expression));
  if (!Number.isFinite(result)) {
    const reason = Number.isNaN(result)
      ? 'is not a real number'
      : 'is not finite: it divides by zero or is too large';
    throw refusal(`The result of "${expression}" ${reason}.`, [
      'Check the expression: divisors, negative roots and very large powers.',
    ]);
  }
  return withoutBinaryNoise(result);
}

function refusal(message: string, alternatives: readonly string[]): ToolFailure {
  return new ToolFailure(message, { errorType: 'invalid_expression', alternatives });
}

function parse(library: MathLibrary, expression: string): MathNode {
  if (/['"`\\]/.test(expression))
    throw refusal('An expression has no texts or quotes.', [
      'Write numbers, operators and functions only.',
    ]);
  try {
    return library.parse(prepared(expression));
  } catch (cause) {
    const message = (cause as Error).message.replaceAll(percentMark, '%');
    const alternatives = /\d,\d/.test(expression)
      ? ['Write numbers without thousands separators: 1234.5 instead of 1,234.5.']
      : [];
    throw refusal(`The expression cannot be read: ${message}.`, [
      ...alternatives,
      'Example of what can be read: (120 + 80.5) * 2 + 15% of 200',
    ]);
  }
}

/**
 * Replaces percent signs. One is the remainder operator only when an operand follows it, as in `17
 * % 5`.
 */
function prepared(expression: string): string {
  const withSigns = expression
    .replaceAll('×', '*')
    .replaceAll('÷', '/')
    .replaceAll('−', '-')
    .replaceAll('·', '*');
  return withSigns.replace(/%(\s*of\b)?/gi, (sign, of: string | undefined, offset: number) => {
    if (of !== undefined) return `${percentMark}*`;
    const next = withSigns.slice(offset + sign.length).trimStart();
    return /^[\d.(\p{L}]/u.test(next) && !/^mod\b/.test(next) ? ' % ' : percentMark;
  });
}

type Operation = MathNode & {
  readonly op: string;
  readonly fn: string;
  readonly args: readonly MathNode[];
};
type Call = MathNode & { readonly fn: MathNode; readonly args: readonly MathNode[] };

function evaluateNode(library: MathLibrary, node: MathNode): number {
  switch (node.type) {
    case 'ConstantNode':
      return numberOf((node as MathNode & { value: unknown }).value);
    case 'ParenthesisNode':
      return evaluateNode(library, contentOf(node));
    case 'SymbolNode':
      return constantOf(nameOf(node));
    case 'OperatorNode':
      return valueOfOperation(library, node as Operation);
    case 'FunctionNode':
      return valueOfCall(library, node as Call);
    default:
      throw refusal(`"${shortened(node.toString())}" is not arithmetic.`, [
        'Write one expression of numbers, + - * / ^ %, parentheses and functions.',
      ]);
  }
}

function contentOf(node: MathNode): MathNode {
  return (node as MathNode & { content: MathNode }).content;
}

function nameOf(node: MathNode): string {
  return String((node as MathNode & { name: unknown }).name);
}

function numberOf(value: unknown): number {
  if (typeof value === 'number') return value;
  throw refusal(
    value === undefined ? 'The expression is empty.' : `${String(value)} is not a number.`,
    ['Write numbers only, such as 2 * 3.'],
  );
}

function constantOf(name: string): number {
  const constant = constants.get(name);
  if (constant !== undefined) return constant;
  const listed = [...constants.keys()].join(', ');
  throw refusal(`"${shortened(name)}" is not known here.`, [
    `Put the number in its place. Known constants: ${listed}.`,
    'Units are not converted.',
  ]);
}

function valueOfOperation(library: MathLibrary, { op, fn, args }: Operation): number {
  const [left, right] = args;
  if (left === undefined) throw refusal(`"${op}" has no operand.`, []);
  const leftValue = evaluateNode(library, left);
  if (right === undefined) return valueOfUnary(library, op, fn, leftValue);
  const operator = binaryOperators.get(fn);
  if (operator === undefined)
    throw refusal(`The operator "${op}" is not allowed.`, [
      'The operators are + - * / ^ % and mod.',
    ]);
  const rightValue = evaluateNode(library, right);
  const shareOfLeft =
    (fn === 'add' || fn === 'subtract') && isPercentage(right) && !isPercentage(left);
  return operator(leftValue, shareOfLeft ? leftValue * rightValue : rightValue);
}

function valueOfUnary(library: MathLibrary, op: string, fn: string, operand: number): number {
  if (fn === 'unaryMinus') return -operand;
  if (fn === 'unaryPlus') return operand;
  if (op === percentMark) return operand / 100;
  if (fn !== 'factorial')
    throw refusal(`The operator "${op}" is not allowed.`, [
      'The operators are + - * / ^ % and mod.',
    ]);
  if (!Number.isInteger(operand) || operand < 0 || operand > longestFactorial) {
    throw refusal(`The factorial is for whole numbers from 0 to ${longestFactorial}.`, []);
  }
  return library.factorial(operand);
}

/** True for a percentage: `200 + 15%` adds 15% of 200; `10% + 5%` is 15%. */
function isPercentage(node: MathNode): boolean {
  if (node.type === 'ParenthesisNode') return isPercentage(contentOf(node));
  if (node.type !== 'OperatorNode') return false;
  const { op, fn, args } = node as Operation;
  if (op === percentMark) return true;
  return (fn === 'add' || fn === 'subtract' || fn === 'unaryMinus') && args.every(isPercentage);
}

function valueOfCall(library: MathLibrary, { fn, args }: Call): number {
  const written = fn.type === 'SymbolNode' ? nameOf(fn) : '';
  const name = otherNames.get(written) ?? written;
  if (!callable.has(name)) {
    const nearest = nearestName(written, [...allowedFunctions, ...otherNames.keys()]);
    const hint = nearest === undefined ? [] : [`Did you mean ${nearest}?`];
    throw refusal(`The function "${shortened(written)}" is not allowed.`, [
      ...hint,
      `The functions are ${allowedFunctions.join(', ')}.`,
    ]);
  }
  const values = args.map((arg) => evaluateNode(library, arg));
  const call = library[name as AllowedFunction] as (...given: number[]) => unknown;
  return resultOfCall(name, () => call(...values));
}

function resultOfCall(name: string, call: () => unknown): number {
  try {
    return numberOf(call());
  } catch (cause) {
    if (cause instanceof ToolFailure) throw cause;
    throw refusal(`${name}(…) cannot be computed: ${(cause as Error).message}.`, []);
  }
}

/**
 * Rounds a fraction to 15 digits, so that 0.1 + 0.2 is 0.3: the rest is noise of the binary form.
 * Whole numbers are left alone.
 */
function withoutBinaryNoise(value: number): number {
  return Number.isInteger(value) ? value : Number(value.toPrecision(15));
}

function shortened(text: string): string {
  return text.length <= 40 ? text : `${text.slice(0, 40)}…`;
}
