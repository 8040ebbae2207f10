/** Bytes of an answer that are read; no service of a channel answers with more. */
const mostBytes = 65_536;

/**
 * Reads the beginning of a body as text and leaves the rest. A body that breaks off is as long as
 * it came: the status has already said what became of the message.
 */
export async function readText({ body }: Response): Promise<string> {
  if (body === null) return '';
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  const reader: ReadableStreamDefaultReader<Uint8Array> = body.getReader();
  try {
    while (bytes < mostBytes) {
      const { done, value } = await reader.read();
      if (done) return text;
      const part = value.subarray(0, mostBytes - bytes);
      bytes += part.length;
      text += decoder.decode(part, { stream: true });
    }
  } catch {
    return text;
  }
  reader.cancel().catch(() => undefined);
  return text;
}

/** Returns an answer in JSON as an object; an empty one for any other answer. */
export function readObject(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : {};
  } catch {
    return {};
  }
}
