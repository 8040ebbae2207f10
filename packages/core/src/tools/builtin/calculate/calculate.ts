import { loadOptionalPackage } from '../../../base/optional-package.ts';
import { ToolFailure } from '../../errors.ts';
import { type Tool, type ToolContext, tool } from '../../tool.ts';
import { evaluateArithmetic } from './arithmetic.ts';

const longestExpression = 500;

export interface Calculation {
  readonly expression: string;
  readonly result: number;
  /** Present when the result is beyond 2^53, where not every whole number can be held. */
  readonly note?: string;
}

const description = `Calculates an arithmetic expression and gives the number. \
Use it for every calculation instead of reckoning yourself.
Operators: + - * / ^ %, parentheses; "15% of 200" is 30, "200 + 15%" is 230, "17 % 5" is the \
remainder. Functions such as round(x, digits), sqrt, min, max, sum, mean, log, sin (radians).
Write numbers without units and without thousands separators. Example: {"expression": \
"(1249.50 + 310) * 15%"}`;

/**
 * A tool that calculates. Nothing of JavaScript is evaluated: the expression is parsed by mathjs,
 * and only arithmetic is accepted from what it finds. Needs the package `mathjs`.
 */
export function calculate(): Tool {
  return tool({
    name: 'calculate',
    description,
    schema: {
      type: 'object',
      properties: {
        expression: { type: 'string', minLength: 1, description: 'The arithmetic expression' },
      },
      required: ['expression'],
      additionalProperties: false,
    },
    readOnly: true,
    execute: async (ctx: ToolContext<{ expression: string }>): Promise<Calculation> => {
      const { expression } = ctx.args;
      assertShort(expression);
      const library = await loadOptionalPackage(
        'mathjs',
        'The tool calculate',
        () => import('mathjs/number'),
      );
      const result = evaluateArithmetic(library, expression);
      const exact = Math.abs(result) <= Number.MAX_SAFE_INTEGER;
      return {
        expression,
        result,
        ...(exact ? undefined : { note: 'The result is rounded to about 15 digits.' }),
      };
    },
  });
}

function assertShort(expression: string): void {
  if (expression.length <= longestExpression) return;
  throw new ToolFailure(
    `The expression has ${expression.length} characters; at most ${longestExpression} are taken.`,
    {
      errorType: 'invalid_expression',
      alternatives: ['Calculate parts of it and put their results together.'],
    },
  );
}
