import { ToolFailure } from '../../errors.ts';
import { type Tool, type ToolContext, tool } from '../../tool.ts';
import { type OpenFile, type RootedToolOptions, rootedFiles } from '../files/rooted-files.ts';
import { aggregateFunctions } from './csv-aggregate.ts';
import { conditionOperators } from './csv-condition.ts';
import { openCsv } from './csv-file.ts';
import { type CsvQuery, type CsvQueryResult, runCsvQuery } from './csv-query.ts';

export interface QueryCsvOptions extends RootedToolOptions {
  /**
   * Larger files are refused, because a part of them would give wrong totals. @default 50_000_000
   */
  readonly maxBytes?: number;
}

export type QueryCsvResult = { readonly path: string } & CsvQueryResult;

const description = `Queries a CSV file: selects rows by conditions and computes sum, avg, min, \
max and count over all rows that match, in all or by groups. Exact to the cent.
Texts are compared without regard to case; numbers may be written like 1,234.50, 1.234,50, $12.30 \
or 12 €. Cells that are not numbers are reported in "skipped", never counted as 0.
Without conditions it shows the columns and the first rows. Example, the total of unpaid invoices:
{"path": "invoices.csv", "where": [{"column": "status", "op": "=", "value": \
"unpaid"}], "aggregate": [{"fn": "sum", "column": "amount"}], "limit": 0}`;

const condition = {
  type: 'object',
  properties: {
    column: { type: 'string' },
    op: { enum: conditionOperators },
    value: {
      type: ['string', 'number', 'boolean'],
      description: 'Not with "empty" and "not_empty"',
    },
  },
  required: ['column', 'op'],
  additionalProperties: false,
};

const aggregate = {
  type: 'object',
  properties: {
    fn: { enum: aggregateFunctions },
    column: { type: 'string', description: 'Not needed by "count"' },
  },
  required: ['fn'],
  additionalProperties: false,
};

/** A tool that computes with CSV files below a folder. Needs the package `csv-parse`. */
export function queryCsv(options: QueryCsvOptions): Tool {
  const files = rootedFiles('queryCsv', options);
  const maxBytes = options.maxBytes ?? 50_000_000;
  return tool({
    name: 'queryCsv',
    description,
    schema: {
      type: 'object',
      properties: {
        path: {
          type: 'string',
          minLength: 1,
          description: 'Path of the CSV file, relative to the root',
        },
        select: {
          type: 'array',
          items: { type: 'string' },
          minItems: 1,
          description: 'Columns of the rows to give; all without it',
        },
        where: {
          type: 'array',
          items: condition,
          maxItems: 20,
          description: 'Conditions, all of which must be met',
        },
        aggregate: { type: 'array', items: aggregate, maxItems: 20 },
        groupBy: { type: 'string', description: 'Column to group by' },
        limit: {
          type: 'integer',
          minimum: 0,
          maximum: 1_000,
          default: 50,
          description: 'Most rows to give; 0 for totals alone',
        },
      },
      required: ['path'],
      additionalProperties: false,
    },
    readOnly: true,
    execute: async (ctx: ToolContext<{ path: string } & CsvQuery>): Promise<QueryCsvResult> => {
      const { path, ...query } = ctx.args;
      await using file = await files.open(path);
      assertSize(file, maxBytes);
      const csv = await openCsv(file, ctx.signal);
      return { path: file.path, ...(await runCsvQuery(csv, query)) };
    },
  });
}

function assertSize(file: OpenFile, maxBytes: number): void {
  if (file.size <= maxBytes) return;
  throw new ToolFailure(`"${file.path}" has ${file.size} bytes; at most ${maxBytes} are queried.`, {
    errorType: 'too_large',
    alternatives: ['Use a smaller file or a part of it.'],
  });
}
