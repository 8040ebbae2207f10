import type { LanguageModelV4CallOptions, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { textProtocol } from 'adjutant';
import { scriptedModel } from 'adjutant/testing';
import { z } from 'zod';

const schemas = {
  calculate: z.object({ expression: z.string() }),
  add: z.object({ a: z.number(), b: z.number() }),
  get_weather: z.object({ city: z.string(), unit: z.enum(['celsius', 'kelvin']).optional() }),
  web_search: z.object({ query: z.string(), limit: z.int().optional() }),
  read_file: z.object({ path: z.string() }),
  send_mail: z.object({
    to: z.string(),
    body: z.string(),
    urgent: z.boolean().optional(),
    copies: z.int().optional(),
  }),
  set_alarm: z.object({
    at: z.string(),
    repeat: z.boolean().optional(),
    label: z.string().nullable().optional(),
  }),
  current_time: z.object({}),
};
const options: LanguageModelV4CallOptions = {
  prompt: [{ role: 'user', content: [{ type: 'text', text: 'Go.' }] }],
  tools: Object.entries(schemas).map(([name, schema]) => ({
    type: 'function',
    name,
    inputSchema: z.toJSONSchema(schema, { io: 'input' }) as never,
  })),
};

interface ReadOptions {
  /** Characters of the pieces in which the answer is streamed. */
  readonly size?: number;
  readonly finishReason?: 'stop' | 'length';
}

/** The answer that the protocol makes of a text. */
export async function readAnswer(
  text: string,
  { size = 10_000, finishReason = 'stop' }: ReadOptions = {},
) {
  const chunks = text.match(new RegExp(`[\\s\\S]{1,${size}}`, 'gu')) ?? [];
  const model = await textProtocol(scriptedModel([{ chunks, finishReason }])).load();
  const { stream } = await model.doStream(options);
  const parts: LanguageModelV4StreamPart[] = [];
  for await (const part of stream) parts.push(part);
  return {
    text: parts.map((part) => (part.type === 'text-delta' ? part.delta : '')).join(''),
    calls: parts.flatMap((part) =>
      part.type === 'tool-call' ? [{ name: part.toolName, args: JSON.parse(part.input) }] : [],
    ),
  };
}
