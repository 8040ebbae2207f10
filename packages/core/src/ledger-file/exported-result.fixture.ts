import { z } from 'zod';
import type { JsonValue } from '../base/json.ts';
import { resolverOf } from '../replay/recorded-ledger.ts';
import { agent } from '../runnables/agent.ts';
import { runtime } from '../runtime.ts';
import { scriptedModel } from '../testing/kit/scripted-model.ts';
import { tool } from '../tools/tool.ts';
import { exportLedger } from './export-ledger.ts';
import type { LedgerFile } from './ledger-file.ts';
import type { RedactOptions } from './redaction-rules.ts';

/** Runs a session in which one tool returns `result`. */
export async function sessionWith(result: JsonValue, message = 'Go') {
  const look = tool({
    name: 'look',
    description: 'Looks',
    schema: z.object({}),
    execute: () => result,
  });
  const model = scriptedModel([{ toolCalls: [{ name: 'look' }] }, { text: 'Done.' }]);
  const { session } = await runtime({ app: 'shop' }).run(
    agent({ name: 'clerk', model, tools: [look] }),
    message,
  );
  return session;
}

export function resultIn({ events, blobs }: LedgerFile): JsonValue {
  const event = events.find(({ type }) => type === 'tool_result');
  return (
    event?.type === 'tool_result' ? resolverOf(blobs)(event.result.content) : null
  ) as JsonValue;
}

export async function exported(result: JsonValue, redact: RedactOptions = {}): Promise<JsonValue> {
  return resultIn(await exportLedger(await sessionWith(result), { redact }));
}
