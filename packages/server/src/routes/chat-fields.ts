import type { Agent, JsonObject, Runnable } from 'adjutant';
import { inputDataOf } from 'adjutant/ports';
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

/**
 * Checks the fields by the schema of the agent's input, also those of a message to a run that has
 * begun: it ignores them, and a page that sends wrong ones is to learn of it at once.
 * @throws RequestRefusedError `chat_fields_unsupported` (400), InvalidInputError
 */
export async function assertTakesFields(agent: Runnable, body: ChatJson): Promise<void> {
  const fields = fieldsOf(body);
  if (fields === undefined) return;
  const takes = agent.kind === 'agent' && (agent as Agent).inputSchema !== undefined;
  if (!takes) throw unsupported(agent, Object.keys(fields));
  await inputDataOf(agent, fields);
}

function unsupported({ name }: Runnable, fields: readonly string[]): RequestRefusedError {
  return new RequestRefusedError(
    400,
    'chat_fields_unsupported',
    `The agent "${name}" takes no fields of its own, and the body has ` +
      `${fields.join(', ')}. Give the agent an \`input\`: a schema by which they are checked. ` +
      'They are the data of its run.',
    { fields },
  );
}
