import type { Agent, JsonObject, Runnable } from 'adjutant';
import { RequestRefusedError } from '../http/problem.ts';
import type { ChatJson } from '../schemas/chat.ts';

/** Members of a body that are the app's own. */
export function fieldsOf({
  id: _id,
  messages: _messages,
  trigger: _trigger,
  messageId: _messageId,
  ...own
}: ChatJson): JsonObject | undefined {
  return Object.keys(own).length === 0 ? undefined : (own as JsonObject);
}

/** @throws RequestRefusedError `chat_fields_unsupported` (400) */
export function assertTakesFields(agent: Runnable, body: ChatJson): void {
  const fields = Object.keys(fieldsOf(body) ?? {});
  if (fields.length === 0) return;
  const takes = agent.kind === 'agent' && (agent as Agent).inputSchema !== undefined;
  if (takes) return;
  throw new RequestRefusedError(
    400,
    'chat_fields_unsupported',
    `The agent "${agent.name}" takes no fields of its own, and the body has ` +
      `${fields.join(', ')}. Give the agent an \`input\`: a schema by which they are checked. ` +
      'They are the data of its run.',
    { fields },
  );
}
