import { z } from 'zod';
import type { JsonValue } from '../../src/base/json.ts';
import { exportLedger } from '../../src/ledger-file/export-ledger.ts';
import type { LedgerFile } from '../../src/ledger-file/ledger-file.ts';
import type { RedactOptions } from '../../src/ledger-file/redaction-rules.ts';
import { resolverOf } from '../../src/replay/recorded-ledger.ts';
import { agent } from '../../src/runnables/agent.ts';
import { runtime } from '../../src/runtime.ts';
import { scriptedModel } from '../../src/testing/kit/scripted-model.ts';
import { tool } from '../../src/tools/tool.ts';

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
